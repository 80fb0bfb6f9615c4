/* nvtx_real.c: the same in short, with NVTX's own headers. SPDX-License-Identifier: MIT */
#include <nvtx3/nvToolsExt.h>

int main(void) {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("real");
    nvtxEventAttributes_t a = {0};
    a.version = NVTX_VERSION;
    a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    a.message.registered = nvtxDomainRegisterStringA(domain, "registered");
    a.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    a.payload.llValue = -5;
    nvtxRangePushA("pushed");
    nvtxDomainRangePushEx(domain, &a);
    nvtxDomainRangePop(domain);
    nvtxMarkA("marked");
    nvtxRangeId_t id = nvtxRangeStartA("started");
    nvtxRangeEnd(id);
    nvtxRangePop();
    nvtxDomainDestroy(domain);
    return 0;
}
