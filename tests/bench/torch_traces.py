#!/usr/bin/env python3
"""Writes traces as torch.profiler does, one a rank: torch_traces.py FOLDER RANKS BYTES.

The layout is Kineto's (one key a line), and so is the mixture: CPU operators with shapes, calls of
the runtime, kernels with long names, copies, collectives and the arrows between them.
SPDX-License-Identifier: MIT
"""
import os
import random
import sys

OPS = ["aten::linear", "aten::matmul", "aten::copy_", "aten::add_", "aten::empty_strided", "aten::to",
       "autograd::engine::evaluate_function: AddmmBackward0", "ProfilerStep", "aten::_softmax"]
KERNELS = [
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
    "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, "
    "at::detail::Array<char*, 3>)",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_"
    "kernel__5x_cublas",
    "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, cutlass::bfloat16_t>, "
    "false, true, false, false, true, false>(Flash_fwd_params)",
    "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_3",
    "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float, "
    "at::native::(anonymous namespace)::SoftMaxForwardEpilogue>(float*, float const*, int)"]
HEAD = """{
  "schemaVersion": 1,
  "deviceProperties": [
    {
      "id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85028765696,
      "computeMajor": 9, "computeMinor": 0, "numSms": 132
    }
  ],
  "distributedInfo": {"backend": "nccl", "rank": %d, "world_size": %d, "nccl_version": "2.21.5"},
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1767189312000000000,
  "traceEvents": [
"""
OP = """  {
    "ph": "X", "cat": "cpu_op", "name": "%s", "pid": %d, "tid": %d,
    "ts": %.3f, "dur": %.3f,
    "args": {
      "External id": %d,"Record function id": 0, "Concrete Inputs": ["", "", "1"], "Input type": \
["c10::BFloat16", "c10::BFloat16", "Scalar"], "Input Strides": [[4096, 1], [1, 4096], []], "Input Dims": \
[[%d, 4096], [4096, 4096], []], "Ev Idx": %d
    }
  },
"""
CALL = """  {
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": %d, "tid": %d,
    "ts": %.3f, "dur": %.3f,
    "args": {
      "External id": %d, "cbid": 211, "correlation": %d
    }
  },
"""
ARROW = """  {
    "ph": "%s", "id": %d, "pid": %d, "tid": %d, "ts": %.3f,
    "cat": "ac2g", "name": "ac2g"%s
  },
"""
KERNEL = """  {
    "ph": "X", "cat": "kernel", "name": "%s", "pid": 0, "tid": %d,
    "ts": %.3f, "dur": %.3f,
    "args": {
      "External id": %d, "queued": 0, "device": 0, "context": 1, "stream": %d, "correlation": %d, \
"registers per thread": 64, "shared memory": 49152, "blocks per SM": 3.878788, "warps per SM": 31.030304, \
"grid": [512, 1, 1], "block": [256, 1, 1], "est. achieved occupancy %%": 48%s
    }
  },
"""
COLLECTIVE = ("""ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)""",
              """, "Collective name": "allreduce", "In msg nelems": 4194304, "Out msg nelems": 4194304, \
"Group size": %d, "dtype": "BFloat16", "Process Group Name": "0", "Process Group Description": "default_pg", \
"Seq": %d""")


def write(path, rank, ranks, size):
    """One rank's trace of about so many bytes."""
    rng = random.Random(rank)
    pid, ts, device, index, step, seq = 1000 + rank, 4458676416788.066, 4458676416800.0, 1, 0, 0
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEAD % (rank, ranks))
        while file.tell() < size:
            start, parts = ts, []
            for i in range(400):
                length = rng.uniform(4, 40)
                parts.append(OP % (rng.choice(OPS), pid, pid, ts, length, index, rng.randrange(1, 9000), index))
                if i % 3 != 0:
                    collective = i % 100 == 1
                    name, more = COLLECTIVE if collective else (rng.choice(KERNELS), "")
                    seq += collective
                    more = more % (ranks, seq) if collective else ""
                    device = max(device, ts + 12) + rng.uniform(0, 3)
                    work = rng.uniform(2, 30)
                    stream = 9 if collective else 7
                    parts.append(CALL % (pid, pid, ts + 1, 3.5, index, index))
                    parts.append(ARROW % ("s", index, pid, pid, ts + 1, ""))
                    parts.append(KERNEL % (name, stream, device, work, index, stream, index, more))
                    parts.append(ARROW % ("f", index, 0, stream, device, ', "bp": "e"'))
                    device += work
                ts += length + 1
                index += 1
            parts.append(OP.replace("cpu_op", "user_annotation") %
                         (f"ProfilerStep#{step}", pid, pid, start, ts - start, index, 1, index))
            step += 1
            file.write("".join(parts))
        file.write('  {\n    "ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", '
                   f'"ts": {ts:.3f}\n  }}\n  ],\n  "traceName": "rank{rank}.json"\n}}\n')


def main():
    """FOLDER RANKS BYTES"""
    folder, ranks, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.makedirs(folder, exist_ok=True)
    for rank in range(ranks):
        write(os.path.join(folder, f"rank{rank}.json"), rank, ranks, size)


if __name__ == "__main__":
    main()
