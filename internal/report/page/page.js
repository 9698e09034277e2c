(() => {
  'use strict';
  const $ = (selector) => document.querySelector(selector);
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const rows = read('index');
  const words = read('words');
  const marks = {
    unjudged: '○', compliant: '✓', incomplete: '◐', unrecognized: '?', inconclusive: '≈', violation: '✗',
    ok: '✓', sealed: '✓', blocked: '✗', uncaptured: '∅', halted: '–', none: '○',
  };
  const pageSize = 200;

  // What is shown.
  const state = { compliance: new Set(), blocked: false, tool: '', reason: '', severity: '', find: '', order: '', open: '' };
  const worst = ['violation', 'inconclusive', 'unrecognized', 'incomplete', 'compliant', 'unjudged'];
  const severe = ['critical', 'warning', 'info', undefined];
  let shown = [];
  let limit = pageSize;

  // el makes an element. Texts are set as texts: nothing from a trace is markup.
  function el(name, attributes, ...children) {
    const e = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined && value !== false) e.setAttribute(key, value === true ? '' : value);
    }
    for (const child of children.flat()) {
      if (child !== null && child !== undefined && child !== '') e.append(child);
    }
    return e;
  }
  const svg = (name, attributes, text) => {
    const e = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    if (text) e.textContent = text;
    return e;
  };
  const tag = (verdict, text, title) => el('span', { class: 'tag v-' + verdict, title },
    el('span', { class: 'mark', 'aria-hidden': 'true' }, marks[verdict] || '•'), ' ' + (text || verdict));

  // Filters.
  function matches(r) {
    if (state.compliance.size > 0 && !state.compliance.has(r.compliance)) return false;
    if (state.blocked && r.blocked === 0) return false;
    if (state.tool !== '' && !r.tools.includes(state.tool)) return false;
    if (state.reason !== '' && !r.reasons.includes(state.reason)) return false;
    if (state.severity !== '' && r.severity !== state.severity) return false;
    if (state.find !== '') {
      const text = [r.id, r.traces.join(' '), r.conversation, r.agent, r.service, r.finding, r.origin, r.gaps.join(' ')].join(' ').toLowerCase();
      return state.find.toLowerCase().split(/\s+/).every((part) => text.includes(part));
    }
    return true;
  }

  function filter() {
    shown = rows.filter(matches);
    if (state.order === 'worst') {
      shown.sort((a, b) => worst.indexOf(a.compliance) - worst.indexOf(b.compliance) || severe.indexOf(a.severity) - severe.indexOf(b.severity) || b.blocked - a.blocked || a.at - b.at);
    }
    limit = pageSize;
    if (state.open !== '' && !shown.some((r) => r.id === state.open)) state.open = '';
    const at = shown.findIndex((r) => r.id === state.open);
    while (at >= limit) limit += pageSize;
    for (const b of document.querySelectorAll('[data-compliance]')) {
      b.setAttribute('aria-pressed', String(state.compliance.has(b.dataset.compliance)));
    }
    $('#blocked').setAttribute('aria-pressed', String(state.blocked));
    $('#tool').value = state.tool;
    $('#severity').value = state.severity;
    $('#order').value = state.order;
    $('#reason').value = state.reason;
    if ($('#find').value !== state.find) $('#find').value = state.find;
    const sessions = `${rows.length} session${rows.length === 1 ? '' : 's'}`;
    $('#count').textContent = shown.length === rows.length ? sessions : `${shown.length} of ${sessions}`;
    list();
    remember();
  }

  // The list.
  function list() {
    const body = $('#sessions tbody');
    const part = document.createDocumentFragment();
    for (const r of shown.slice(0, limit)) {
      part.append(row(r));
      if (r.id === state.open) part.append(detail(r));
    }
    if (shown.length === 0) {
      part.append(el('tr', {}, el('td', { colspan: 7, class: 'dim' }, 'No session is like that.')));
    }
    body.replaceChildren(part);
    $('#more').hidden = shown.length <= limit;
    $('#more').textContent = `Show more (${shown.length - limit} are left)`;
  }

  function row(r) {
    const open = r.id === state.open;
    return el('tr', { class: open ? 'row open' : 'row', 'data-id': r.id },
      el('td', {}, tag(r.compliance, r.compliance, words.verdicts[r.compliance])),
      el('td', {}, el('button', { type: 'button', class: 'link id', 'aria-expanded': String(open), 'aria-label': `session ${r.id}, ${r.compliance}` },
        r.id.length > 18 ? r.id.slice(0, 16) + '…' : r.id)),
      el('td', {}, r.agent || r.service),
      el('td', { class: 'dim began' }, r.began.replace('T', ' ').replace(/\.\d+Z$/, '').replace('Z', '')),
      el('td', { class: 'n v-sealed' }, r.sealed ? String(r.sealed) : ''),
      el('td', { class: 'n v-blocked' }, r.blocked ? String(r.blocked) : ''),
      el('td', {}, r.severity && r.severity !== 'warning' ? [severity(r.severity), ' '] : '', r.finding));
  }

  const buttons = () => [...document.querySelectorAll('#sessions tr.row button')];

  function toggle(id, focus) {
    const close = state.open;
    state.open = state.open === id ? '' : id;
    for (const changed of [close, id]) {
      const tr = changed && document.querySelector(`#sessions tr.row[data-id="${CSS.escape(changed)}"]`);
      if (!tr) continue;
      if (tr.nextElementSibling && tr.nextElementSibling.classList.contains('detail')) tr.nextElementSibling.remove();
      const r = rows.find((x) => x.id === changed);
      const fresh = row(r);
      tr.replaceWith(fresh);
      if (changed === state.open) fresh.after(detail(r));
      if (changed === id && focus) fresh.querySelector('button').focus();
    }
    remember();
  }

  // One session.
  function detail(r) {
    const traces = read('d' + r.at);
    const cell = el('td', { colspan: 7 });
    cell.append(el('p', { class: 'dim' },
      r.traces.length > 1 ? `${r.traces.length} traces: ` : 'trace ', el('code', {}, r.traces.join(', ')),
      r.conversation ? ', conversation ' + r.conversation : '', r.service ? ', service ' + r.service : '',
      r.origin ? ', recorded in ' + r.origin : '', r.score !== null ? `, score ${Math.round(r.score * 1000) / 1000}` : ''));
    cell.append(el('p', { class: 'dim' }, 'Step by step: ', el('code', {}, `resultseal score … --explain ${r.traces[0]}`)));
    if (r.gaps.length > 0) {
      cell.append(el('p', { class: 'dim' }, 'Events may be missing: ', r.gaps.map((g, i) => [i > 0 ? '; ' : '', el('code', {}, g), ' ' + words.gaps[g]])));
    }
    for (const p of r.protocols) cell.append(protocol(p, traces));
    cell.append(timeline(r, traces), calls(traces));
    return el('tr', { class: 'detail' }, cell);
  }

  const severity = (s) => el('span', { class: 's-' + s }, s);

  // about shows the metadata of a contract or protocol. Its runbook is a link: the
  // policy accepts http and https only.
  function about(part) {
    if (!part) return '';
    const out = [el('span', {}, 'severity ', severity(part.severity))];
    if (part.owner) out.push(', owner ' + part.owner);
    if (part.runbook) out.push(', ', el('a', { href: part.runbook, rel: 'noreferrer' }, 'runbook'));
    return [el('p', { class: 'dim about' }, out), part.description ? el('p', { class: 'dim words' }, part.description) : ''];
  }
  const named = (parts, name) => (Object.hasOwn(parts, name) ? parts[name] : null);

  // steps are a protocol's in all traces of the session.
  const steps = (name, traces) => traces.flatMap((t) => t.protocols.filter((p) => p.name === name).flatMap((p) => p.steps));

  function protocol(p, traces) {
    const section = el('section', {}, el('h3', {}, 'Protocol ' + p.name + ' ', tag(p.verdict)),
      el('p', { class: 'dim' }, words.verdicts[p.verdict], p.text ? ' ' + p.text : ''),
      p.text ? about(named(words.protocols, p.name)) : '');
    const drawing = document.querySelector(`details.protocol[data-protocol="${CSS.escape(p.name)}"] svg`);
    if (drawing) section.append(path(drawing.cloneNode(true), steps(p.name, traces)));
    return section;
  }

  // path marks in a drawing which way was taken, and where it ended.
  let drawings = 0;
  function path(drawing, taken) {
    // The original's arrow head is not drawn where the original is folded away.
    const head = 'arrow' + drawings++;
    drawing.querySelector('marker').id = head;
    for (const line of drawing.querySelectorAll('[marker-end]')) line.setAttribute('marker-end', `url(#${head})`);
    const at = (n) => drawing.querySelector(`.state[data-state="${n}"]`);
    let last = null;
    for (const s of taken) {
      if (last === null) last = s.from;
      at(s.from).classList.add('visited');
      if (s.verdict !== 'ok') continue;
      last = s.to;
      at(s.to).classList.add('visited');
      for (const text of drawing.querySelectorAll(`text.event[data-from="${s.from}"][data-to="${s.to}"]`)) {
        if (text.dataset.event !== s.event) continue;
        text.classList.add('taken');
        text.parentNode.classList.add('taken');
      }
    }
    if (last === null) last = 0;
    at(last).classList.add('visited', 'last');
    const broken = taken.find((s) => s.verdict === 'violation' || s.verdict === 'inconclusive');
    if (broken) {
      const rect = at(broken.from).querySelector('rect');
      // Down and to the right: what leads back ends in the middle.
      const x = Number(rect.getAttribute('x')) + Number(rect.getAttribute('width')) - 6;
      const y = Number(rect.getAttribute('y')) + Number(rect.getAttribute('height')) - 4;
      const g = svg('g', { class: 'broken' });
      g.append(svg('path', { d: `M${x},${y} l12,26` }), svg('text', { x: x + 8, y: y + 40 }, `${marks[broken.verdict]} ${broken.event}`));
      drawing.append(g);
      // Room for it.
      const box = drawing.getAttribute('viewBox').split(' ').map(Number);
      const left = box[0];
      const width = Math.max(box[2], x + 16 + 8 * (broken.event.length + 2));
      const height = Math.max(box[3], y + 50);
      drawing.setAttribute('viewBox', [left, box[1], width, height].join(' '));
      drawing.setAttribute('width', width);
      drawing.setAttribute('height', height);
    }
    const way = taken.filter((s) => s.verdict === 'ok').map((s) => s.event).join(' ') || 'nothing';
    drawing.setAttribute('aria-label', `The way taken: ${way}${broken ? `; then ${broken.event}, which was not legal` : ''}; it ended in state ${at(last).textContent.trim()}`);
    return drawing;
  }

  // timeline is a table with a lane for each who does something.
  function timeline(r, traces) {
    const tools = [...new Set(traces.flatMap((t) => t.items.filter((i) => i.call >= 0).map((i) => t.calls[i.call].tool)))];
    const lanes = tools.length > 5 ? null : tools;
    const toolLanes = lanes ? lanes.length : (tools.length > 0 ? 1 : 0);
    const others = traces.some((t) => t.items.some((i) => i.kind === 'span'));
    const table = el('table', { class: 'lanes' },
      el('thead', {}, el('tr', {},
        el('th', { scope: 'col' }, 'time'), el('th', { scope: 'col' }, 'user'), el('th', { scope: 'col' }, 'agent'),
        lanes ? lanes.map((t) => el('th', { scope: 'col' }, t || '(unnamed)')) : el('th', { scope: 'col' }, 'tools'),
        others ? el('th', { scope: 'col' }, 'spans') : null,
        r.protocols.map((p) => el('th', { scope: 'col' }, p.name)))));
    const body = el('tbody');
    for (const t of traces) {
      if (traces.length > 1) {
        body.append(el('tr', { class: 'trace' }, el('td', { colspan: 3 + toolLanes + (others ? 1 : 0) + r.protocols.length }, `trace ${t.trace}, from ${t.began}`)));
      }
      const running = new Set();
      t.items.forEach((item, n) => {
        const call = item.call >= 0 ? t.calls[item.call] : null;
        const tr = el('tr', {}, el('td', { class: 'time' }, item.at));
        tr.append(lane(item.kind === 'user' ? said(item) : null));
        tr.append(lane(item.kind === 'agent' ? said(item) : null));
        for (let l = 0; l < toolLanes; l++) {
          const mine = call && (item.kind === 'call' || item.kind === 'result') && (!lanes || lanes[l] === call.tool);
          const busy = [...running].some((c) => !lanes || t.calls[c].tool === lanes[l]);
          const cell = lane(mine ? happened(item, call, !lanes) : null, busy ? 'tool busy' : 'tool');
          const answered = mine && item.kind === 'call' && t.items.slice(n).some((i) => i.kind === 'result' && i.call === item.call);
          if (answered && !busy) cell.classList.add('begins');
          if (mine && item.kind === 'result' && running.size === 1) cell.classList.add('ends');
          tr.append(cell);
        }
        if (item.kind === 'call' && t.items.slice(n).some((i) => i.kind === 'result' && i.call === item.call)) running.add(item.call);
        if (item.kind === 'result') running.delete(item.call);
        if (others) tr.append(lane(item.kind === 'span' ? item.name : null));
        for (const p of r.protocols) {
          const s = t.protocols.filter((x) => x.name === p.name).flatMap((x) => x.steps).find((x) => x.item === n);
          tr.append(el('td', {}, s ? step(s) : ''));
          if (s && s.verdict === 'violation') tr.classList.add('bad');
        }
        body.append(tr);
      });
    }
    table.append(body);
    return el('section', {}, el('h3', {}, 'Timeline'), body.children.length ? table : el('p', { class: 'dim' }, 'Nothing happened that can be shown.'));
  }

  const lane = (content, cls) => el('td', { class: cls || null }, content);

  function said(item) {
    const who = item.kind === 'user' ? (item.first ? 'asks' : 'says') : (item.calls ? 'says, and calls tools' : 'says');
    return [who, item.text !== undefined ? el('pre', { class: 'content' }, item.text) : ''];
  }

  function happened(item, call, named) {
    const name = named ? call.tool + ' ' : '';
    if (item.kind === 'call') {
      return [el('span', { class: 'tag' }, '▸ ' + name + 'call'), call.arguments !== undefined ? el('pre', { class: 'content' }, call.arguments) : ''];
    }
    return [el('span', { class: 'tag' }, '◂ ' + name), truth(call), call.result !== undefined ? el('pre', { class: 'content' }, call.result) : ''];
  }

  // truth is what a call's result came to.
  function truth(call) {
    if (!call.contract) return tag('none', 'no contract');
    if (call.decision === 'sealed') return tag('sealed', 'sealed' + (call.state === 'sealed' ? '' : ', ' + call.state));
    if (call.uncaptured) return tag('uncaptured', 'not recorded');
    return tag('blocked', call.state.replace('_', ' '), `${words.states[call.state]}: ${call.reasons.map((c) => words.reasons[c]).join(' ')}`);
  }

  function step(s) {
    const verdict = s.verdict === 'blocked' ? 'halted' : s.verdict;
    const out = [tag(verdict, s.event, s.verdict === 'ok' ? `state ${s.from} to ${s.to}` : s.reason)];
    if (s.verdict !== 'ok' && s.verdict !== 'blocked') {
      out.push(el('span', { class: 'expected' }, s.verdict, s.expected.length ? ', expected ' : '', s.expected.length ? el('span', { class: 'event' }, s.expected.join(' or ')) : '',
        s.reason ? ` (${s.reason})` : ''));
    }
    const registers = Object.entries(s.registers || {});
    if (registers.length) out.push(el('span', { class: 'dim expected' }, registers.map(([k, v]) => `${k} = ${words.content ? JSON.stringify(v) : v}`).join(', ')));
    return out;
  }

  function calls(traces) {
    const all = traces.flatMap((t) => t.calls).filter((c) => c.contract || c.held);
    if (!all.some((c) => c.contract)) return '';
    return el('section', {}, el('h3', {}, 'Tool calls'), el('table', {},
      el('thead', {}, el('tr', {}, ['tool', 'call', 'span', 'contract', 'decision', 'truth state', 'why'].map((h) => el('th', { scope: 'col' }, h)))),
      el('tbody', {}, all.map((c) => el('tr', {},
        el('td', {}, c.tool), el('td', { class: 'id' }, c.id || ''), el('td', { class: 'id' }, c.span), el('td', {}, c.contract || ''),
        el('td', {}, c.contract ? tag(c.decision) : tag('none', 'no contract')), el('td', { title: words.states[c.state] }, c.state || ''),
        el('td', {}, why(c)))))));
  }

  // why says what each reason code means.
  function why(c) {
    const lines = (c.reasons || []).map((code) => el('div', {}, el('code', {}, code), ' ', el('span', { class: 'dim' }, words.reasons[code])));
    if (c.missing) lines.push(el('div', {}, 'missing: ' + c.missing.join(', ')));
    if (c.decision === 'blocked') lines.push(...about(named(words.contracts, c.contract)));
    return lines;
  }

  // The address remembers what is shown.
  function remember() {
    const p = new URLSearchParams();
    if (state.compliance.size) p.set('outcome', [...state.compliance].join(' '));
    if (state.blocked) p.set('blocked', 'yes');
    for (const key of ['tool', 'reason', 'severity', 'find', 'order']) if (state[key]) p.set(key, state[key]);
    if (state.open) p.set('session', state.open);
    const hash = p.toString();
    if ('#' + hash !== location.hash && (hash || location.hash)) history.replaceState(null, '', '#' + hash);
  }
  function recall() {
    const p = new URLSearchParams(location.hash.slice(1));
    state.compliance = new Set((p.get('outcome') || '').split(' ').filter((c) => c in words.verdicts));
    state.blocked = p.has('blocked');
    for (const key of ['tool', 'reason', 'severity', 'find', 'order']) state[key] = p.get(key) || '';
    state.open = p.get('session') || '';
    filter();
  }

  document.addEventListener('click', (e) => {
    const b = e.target.closest('[data-compliance], #blocked, button[data-tool], button[data-reason], #clear, #more');
    if (b) {
      if (b.dataset.compliance !== undefined) {
        if (!state.compliance.delete(b.dataset.compliance)) state.compliance.add(b.dataset.compliance);
      } else if (b.id === 'blocked') state.blocked = !state.blocked;
      else if (b.dataset.tool !== undefined) state.tool = state.tool === b.dataset.tool ? '' : b.dataset.tool;
      else if (b.dataset.reason !== undefined) state.reason = state.reason === b.dataset.reason ? '' : b.dataset.reason;
      else if (b.id === 'clear') Object.assign(state, { compliance: new Set(), blocked: false, tool: '', reason: '', severity: '', find: '' });
      else {
        const next = limit;
        limit += 5 * pageSize;
        list();
        buttons()[next]?.focus();
        return;
      }
      filter();
      return;
    }
    const tr = e.target.closest('#sessions tr.row');
    if (tr && !String(getSelection())) toggle(tr.dataset.id, true);
  });
  $('#tool').addEventListener('change', (e) => { state.tool = e.target.value; filter(); });
  $('#reason').addEventListener('change', (e) => { state.reason = e.target.value; filter(); });
  $('#severity').addEventListener('change', (e) => { state.severity = e.target.value; filter(); });
  $('#order').addEventListener('change', (e) => { state.order = e.target.value; filter(); });
  $('#find').addEventListener('input', (e) => { state.find = e.target.value.trim(); filter(); });
  document.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const typing = e.target.matches('input, select');
    if (e.key === 'Escape') {
      if (state.open) toggle(state.open, true);
      return;
    }
    if (typing) return;
    if (e.key === '/') {
      e.preventDefault();
      $('#find').focus();
      return;
    }
    const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[e.key];
    if (!by || (e.key.startsWith('Arrow') && !e.target.closest('#sessions tr.row'))) return;
    const all = buttons();
    const next = all[Math.max(0, Math.min(all.length - 1, all.indexOf(document.activeElement) + by))];
    if (next) {
      e.preventDefault();
      next.focus();
    }
  });
  addEventListener('hashchange', recall);
  recall();
})();
