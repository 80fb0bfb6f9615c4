#!/usr/bin/env python3
# rollout.py: reinforcement learning with asynchronous rollouts, traced. SPDX-License-Identifier: MIT
"""A small policy learns to count on from a digit. Each step samples answers as coroutines (generation on
threads, scoring in a pool of processes), then trains on those that are better than their siblings.

    python3 examples/python/rollout.py --dir trace
    perf-trace-convert trace -o trace.json
    perf-trace-sessions trace

Needs torch (Debian: python3-torch), and the package perftrace (docs/PYTHON.md)."""
import argparse
import asyncio
import concurrent.futures
import multiprocessing
import statistics
import time

import torch
from perftrace import perf_tracer as pt
from perftrace import timers

DIGITS, LENGTH = 10, 4
options = argparse.Namespace()


def config():
    return pt.PerfTracerConfig(dir=options.dir, enabled=True, profile_steps=[2, 3],
                               session_tracer=pt.SessionTracerConfig(enabled=True))


# ---- scoring, in processes of its own ------------------------------------------------------------

def begin_worker(directory):
    options.dir = directory
    pt.configure(config(), rank=0, role="scorer")


@pt.trace_perf("score", category="compute")
def score(prompt, answer):
    """How many digits count on from the prompt; with some work, as a real judge has."""
    until = time.perf_counter() + 0.001
    while time.perf_counter() < until:
        pass
    return sum(digit == (prompt + 1 + i) % DIGITS for i, digit in enumerate(answer)) / LENGTH


# ---- the policy ----------------------------------------------------------------------------------

class Policy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Embedding(DIGITS, 32), torch.nn.Tanh(),
                                          torch.nn.Linear(32, DIGITS))

    def forward(self, digits):
        return self.layers(digits)

    @pt.trace_perf("sample", category="compute")
    def sample(self, prompt):
        answer, digit = [], torch.tensor(prompt)
        with torch.no_grad():
            for _ in range(LENGTH):
                digit = torch.distributions.Categorical(logits=self(digit)).sample()
                answer.append(int(digit))
        return answer


# ---- one sample, one step ------------------------------------------------------------------------

@pt.session_context()
async def rollout(policy, pool, prompt):
    loop = asyncio.get_running_loop()
    async with pt.timer("rollout", category="scheduler", args={"prompt": prompt}):
        async with pt.atrace_session_phase("generate", start_payload={"prompt": prompt}):
            answer = await asyncio.to_thread(policy.sample, prompt)
        async with pt.atrace_session_phase("reward"):
            reward = await loop.run_in_executor(pool, score, prompt, answer)
    return pt.get_session_id(), prompt, answer, reward


def judge(samples):
    """Of the samples of one task, those that are no worse than their mean are taken."""
    mean = statistics.fmean(reward for _, _, _, reward in samples)
    for session, prompt, answer, reward in samples:
        taken = reward >= mean
        pt.trace_session_event("mark_finalized", session_id=session,
                               status="accepted" if taken else "rejected",
                               reason=None if taken else "below_mean")
        yield prompt, answer, reward - mean


@pt.trace_perf("optimize", category="compute")
def optimize(policy, optimizer, batch):
    loss = torch.zeros(())
    for prompt, answer, advantage in batch:
        given = torch.tensor([prompt, *answer[:-1]])
        chosen = torch.distributions.Categorical(logits=policy(given)).log_prob(torch.tensor(answer))
        loss = loss - advantage * chosen.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


async def task(policy, pool, number):
    pt.set_task_id(number)
    pt.register_task(number)
    prompt = number % DIGITS
    return await asyncio.gather(*(rollout(policy, pool, prompt) for _ in range(options.samples)))


async def train():
    torch.manual_seed(1)
    policy = Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.1)
    rewards = []
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, context, begin_worker, (options.dir,)) as pool:
        for step in range(options.steps):
            pt.step(step)
            async with pt.atrace_scope("step", args={"global_step": step}):
                tasks = await asyncio.gather(*(task(policy, pool, step * options.tasks + i)
                                               for i in range(options.tasks)))
                with pt.trace_scope("train", enable_profiler=True):
                    optimize(policy, optimizer, [s for samples in tasks for s in judge(samples)])
            rewards.append(statistics.fmean(s[3] for samples in tasks for s in samples))
            pt.counter("reward", rewards[-1])
            pt.save(step=step)
    return rewards


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", default="trace", help="directory of the trace (trace)")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--tasks", type=int, default=6, help="of a step (6)")
    parser.add_argument("--samples", type=int, default=6, help="of a task (6)")
    parser.parse_args(namespace=options)
    pt.configure(config(), rank=0, role="trainer")
    pt.hold("train")  # with PERFTRACE_HOLD=1 and PERFTRACE_CONTROL=on: until perf-trace-ctl resume
    rewards = asyncio.run(train())
    pt.reset()
    quarter = max(len(rewards) // 4, 1)
    print(f"mean reward {statistics.fmean(rewards[:quarter]):.2f} in the first {quarter} steps, "
          f"{statistics.fmean(rewards[-quarter:]):.2f} in the last")
    rollouts = timers.read("rollout")
    print(f"{rollouts.count} rollouts, {rollouts.mean * 1e3:.1f} ms each, "
          f"one in a hundred above {rollouts.quantile(0.99) * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
