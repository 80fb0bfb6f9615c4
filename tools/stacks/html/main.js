// main.js: what the reader chooses.
'use strict';

function chooseThread(value) {
    const i = Number(value);
    if (i < 0)
        showTree(whole, units[0]);
    else
        showTree(trees[i], data.threads[i].unit);
}

function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    document.getElementById('theme').textContent = theme === 'dark' ? 'Light colours' : 'Dark colours';
}

function begin() {
    const select = d3.select('#thread');
    const choices = data.threads.map((thread, i) => ({
        value: i, text: `${trees[i].name}: ${weightText(trees[i].weight, thread.unit)}` }));
    if (whole !== null)
        choices.unshift({ value: -1, text: 'all threads' });
    select.selectAll('option').data(choices).enter().append('option')
        .attr('value', (c) => c.value).text((c) => c.text);
    select.on('change', function change() { chooseThread(this.value); });
    d3.select('#search').on('input', function input() {
        view.search = this.value.toLowerCase();
        draw();
    });
    const reset = () => zoomTo(view.root);
    d3.select('#reset').on('click', reset);
    d3.select(document).on('keydown', () => {
        if (d3.event.key === 'Escape' && d3.event.target.id !== 'search')
            reset();
    });
    d3.select(window).on('resize', draw);
    d3.select('#theme').on('click', () => setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'));
    setTheme(window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
    document.title = data.title;
    document.getElementById('about').textContent = data.about;
    document.getElementById('made-by').textContent = `Made by ${data.maker} with D3 ${d3.version}.`;
    document.getElementById('license').textContent = document.getElementById('chart-license').textContent;
    chooseThread(choices[0].value);
    document.documentElement.dataset.drawn = 'yes';
}

begin();
