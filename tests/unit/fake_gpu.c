/* fake_gpu.c: what GPU profilers' libraries export, counted. SPDX-License-Identifier: MIT */
#include <stdint.h>

int fake_gpu_starts;
int fake_gpu_stops;
int fake_gpu_result;           /* what they return */
uint64_t fake_gpu_thread = 77; /* that roctx was asked for */

#ifdef FAKE_ROC
int roctxProfilerResume(uint64_t thread);
int roctxProfilerPause(uint64_t thread);

int roctxProfilerResume(uint64_t thread) {
    fake_gpu_thread = thread;
    fake_gpu_starts++;
    return fake_gpu_result;
}

int roctxProfilerPause(uint64_t thread) {
    fake_gpu_thread = thread;
    fake_gpu_stops++;
    return fake_gpu_result;
}
#else
int cudaProfilerStart(void);
int cudaProfilerStop(void);
const char *cudaGetErrorString(int error);

const char *cudaGetErrorString(int error) {
    return error == 35 ? "the driver is too old" : 0;
}

int cudaProfilerStart(void) {
    fake_gpu_starts++;
    return fake_gpu_result;
}

int cudaProfilerStop(void) {
    fake_gpu_stops++;
    return fake_gpu_result;
}
#endif
