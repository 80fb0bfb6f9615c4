// stacks_tables.test.js: the tables and stacks of the reference, for files of the corpus, as the oracle
// of stacks_tool.js works them out. Uses ../shared. SPDX-License-Identifier: MIT
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const t = require('./stacks_tool.js');

const BUILT_IN = {
    'Actor state': ['__hash__', '_actor_id', '_get_local_state', 'refresh_actor_state',
                    '_update_running_actor_state', 'running_actors', 'get_actor_id',
                    'max_tasks_in_flight_per_actor'],
    'HTTP/detect': ['readinto', '_make_http_get_request', 'ray_address_to_api_server_url',
                    'internal_kv_get_with_retry', '_initialize_internal_kv', 'check_connected'],
    'List/set comprehensions': ['<listcomp>', '<setcomp>', '<dictcomp>'],
    HeapDict: ['_decrease_key', '_swap', '__setitem__', '_build_actor_busyness_heap'],
    'Scheduling misc': ['wait', 'safe_round', 'select_operator_to_run'],
};

const FILES = {
    'speedscope/cs336-assignment1-basics__profile.speedscope.json': {
        read: t.readSpeedscope, unit: 'seconds', thread: 'thread-', functions: ['join', 'wait', 'run', '<module>'] },
    'speedscope/deepdrr__profile.speedscope.json': {
        read: t.readSpeedscope, unit: 'seconds', thread: '117430',
        functions: ['<module>', '_find_and_load', 'array_for_new_object', '__call__'] },
    'collapsed/speedscope__recursion.txt': {
        read: t.readCollapsed, unit: 'none', thread: 'a', functions: ['a', 'b', 'c'] },
    'collapsed/inferno__flames.txt': {
        read: t.readCollapsed, unit: 'none', thread: '', functions: ['GraphQL', 'alloc::vec::Vec<u64>::Integer_encode_all'] },
};

const here = t.fs.existsSync(t.CORPUS);
const holds = (out, part, what) => assert(out.includes(part), `${what}: not in what was printed:\n${part}\n${out}`);

for (const [name, { read, unit, thread, functions }] of here ? Object.entries(FILES) : []) {
    const file = t.path.join(t.CORPUS, name);
    const oracle = new t.Oracle(read(file), unit);

    test(`${name}: threads`, () => {
        assert.strictEqual(t.text(['threads', file]), `Threads in ${file}:\n\n${oracle.threads()}`);
        assert.strictEqual(t.text([file, '--list-threads']), `Threads in ${file}:\n\n${oracle.threads()}`);
    });

    test(`${name}: self time and categories`, () => {
        const out = t.text([file]);
        holds(out, `\n\n${oracle.self()}\n`, 'self');
        holds(out, `\n\n${oracle.categories(BUILT_IN)}`, 'categories');
        for (const top of [1, 7, 20, 1000])
            holds(t.text(['top', file, '-n', top, '--no-categories']), `\n\n${oracle.self(top)}`, `top ${top}`);
    });

    test(`${name}: categories of a file`, () => {
        const names = [...new Set(oracle.selfRows().map((g) => g.what[0]))];
        const own = { many: names.slice(0, 9), one: names.slice(8, 10), none: ['nowhere'] };
        const dir = t.files({ 'categories.json': JSON.stringify(own) });
        holds(t.text([file, '-c', `${dir}/categories.json`]), `\n\n${oracle.categories(own)}`, 'categories');
    });

    test(`${name}: a part of the threads`, () => {
        const part = oracle.filtered(thread);
        const out = t.text([file, '-t', thread.toUpperCase()]);
        holds(out, `\n\n${part.self()}`, 'self');
        holds(out, `Matching threads: ${part.profiles.length}\n`, 'threads');
        part.profiles.forEach((p) => holds(out, `  - ${p.name}\n`, 'names'));
    });

    test(`${name}: inclusive`, () => {
        const list = [...functions, 'nowhere', 'also nowhere'].join(',');
        const out = t.text([file, '--inclusive', list, '--callers', functions[0]]);
        holds(out, `\n\n${oracle.inclusive(list)}`, 'inclusive');
        holds(out, `\n\n${oracle.self()}`, 'self is shown with it');
    });

    for (const name of functions) {
        test(`${file.split('/').pop()}: stacks of ${name}`, () => {
            for (const [depth, top] of [[5, 5], [0, 5], [2, 3], [1, 1], [30, 20]]) {
                const how = ['--depth', depth, '-n', top];
                holds(t.text(['callers', name, file, ...how]), oracle.callers(name, depth, top), 'callers');
                if (depth !== 1)
                    holds(t.text(['callgraph', name, file, ...how]), oracle.callgraph(name, depth, top), 'callgraph');
            }
            const flat = t.text([file, '--callers', name, '--call-graph', name]);
            holds(flat, oracle.callers(name), 'callers');
            holds(flat, oracle.callgraph(name), 'callgraph');
            assert(!flat.includes('Self %'), 'self is not shown with stacks alone');
        });
    }

    test(`${name}: full stacks`, () => {
        const all = oracle.full();
        assert(t.text(['full', file]).endsWith(`\n\n${all}`), 'all');
        assert(t.text([file, '--full']).endsWith(`\n\n${all}`), 'all, by the option');
        assert(t.text(['full', file, '-n', 20]).endsWith(`\n\n${oracle.full(20)}`), 'the first 20');
    });
}
if (!here)
    test('the corpus', { skip: `${t.CORPUS} is not here` }, () => {});
