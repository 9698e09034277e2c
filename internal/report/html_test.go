// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/conversations"
	"github.com/resultseal/otelcol-resultseal/internal/describe"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/traceread"
)

// pageOptions are what a page of the tests is made of.
type pageOptions struct {
	example string // of examples/protocols
	content bool
	times   int // each trace so many times, under other ids
	change  func(n int, span ptrace.Span)
	policy  string // instead of the example's
}

// writePage judges an example and writes its page to a file.
func writePage(t *testing.T, o pageOptions) string {
	t.Helper()
	dir := filepath.Join("..", "..", "examples", "protocols", o.example)
	text, err := os.ReadFile(filepath.Join(dir, "policy.yaml"))
	require.NoError(t, err)
	if o.policy != "" {
		text = []byte(o.policy)
	}
	p, err := policy.Load("policy.yaml", text)
	require.NoError(t, err)
	var traces traceread.Collection
	require.NoError(t, traceread.Read([]string{filepath.Join(dir, "traces.jsonl")}, nil, 2, traceread.Handler{
		Traces: func(td ptrace.Traces, _ traceread.Place) error { traces.Add(td); return nil },
		Broken: func(e *traceread.Error) error { return e },
	}))
	scorer := score.New(p)
	store := conversations.Unbounded{}
	b := NewBuilder(scorer.Conversational())
	b.Content = o.content
	n := 0
	for range max(o.times, 1) {
		for _, original := range traces.Traces() {
			td := ptrace.NewTraces()
			original.CopyTo(td)
			for _, rs := range td.ResourceSpans().All() {
				for _, ss := range rs.ScopeSpans().All() {
					for _, span := range ss.Spans().All() {
						if o.times > 1 {
							id := span.TraceID()
							binary.BigEndian.PutUint32(id[:], uint32(n)) //nolint:gosec // few
							span.SetTraceID(id)
						}
						if o.change != nil {
							o.change(n, span)
						}
					}
				}
			}
			facts, _ := genai.NewDecoder(genai.Options{}).Traces(td)
			v, a := scorer.Explain(facts, store)
			require.NoError(t, b.Add(Trace{Verdict: v, Spans: facts, Account: a, Origin: Origin{"traces.jsonl", n + 1}}))
			n++
		}
	}
	r, err := b.Report(Inputs{Files: 1, Spans: traces.Spans})
	require.NoError(t, err)
	defer r.Close()
	page := written(t, func(w *bytes.Buffer) error {
		return r.HTML(w, Page{Version: "0.1.0", PolicyFile: "policy.yaml", Policy: p, Content: o.content})
	})
	file := filepath.Join(t.TempDir(), "report.html")
	require.NoError(t, os.WriteFile(file, page, 0o600))
	return file
}

const unsealed = "no-action-on-an-unsealed-fact"

// The page in a real browser: it says what the report says, its filters work by
// mouse and by keys, and it complains of nothing and loads nothing.
func TestPage(t *testing.T) {
	b := openBrowser(t)
	file := writePage(t, pageOptions{example: unsealed})
	b.open(file, "")

	count := func() string { return b.text(`document.querySelector('#count').textContent`) }
	outcomes := func() string {
		return b.text(`[...document.querySelectorAll('#sessions tr.row')].map((r) => r.cells[0].textContent.trim().split(' ').pop()).join(' ')`)
	}
	hash := func() string { return b.text(`location.hash`) }
	require.Equal(t, "5 sessions", count())
	require.Equal(t, "compliant compliant violation violation violation", outcomes())
	require.Equal(t, "○ unjudged 0,✓ compliant 2,◐ incomplete 0,? unrecognized 0,≈ inconclusive 0,✗ violation 3",
		b.text(`[...document.querySelectorAll('[data-compliance]')].map((e) => e.textContent.trim()).join(',')`))

	// Filters, one by one and together.
	b.click(`[data-compliance="violation"]`)
	require.Equal(t, "3 of 5 sessions", count())
	require.Equal(t, "violation violation violation", outcomes())
	require.Equal(t, "#outcome=violation", hash())
	require.Equal(t, "true", b.text(`document.querySelector('[data-compliance="violation"]').getAttribute('aria-pressed')`))
	b.click(`[data-reason="TARGET_MISMATCH"]`)
	require.Equal(t, "1 of 5 sessions", count())
	require.Equal(t, "TARGET_MISMATCH", b.text(`document.querySelector('#reason').value`))
	b.click(`[data-compliance="violation"]`)
	b.click(`[data-compliance="compliant"]`)
	require.Equal(t, "0 of 5 sessions", count())
	require.Contains(t, b.text(`document.querySelector('#sessions tbody').textContent`), "No session is like that.")
	b.click("#clear")
	require.Equal(t, "5 sessions", count())
	require.Empty(t, strings.TrimPrefix(hash(), "#"))
	b.click(`button[data-tool="refund"]`)
	require.Equal(t, "4 of 5 sessions", count())
	b.click(`button[data-tool="refund"]`)
	b.click("#blocked")
	require.Equal(t, "3 of 5 sessions", count())
	b.click("#clear")
	b.eval(`(() => { const s = document.querySelector('#order'); s.value = 'worst'; s.dispatchEvent(new Event('change', {bubbles: true})); })()`, nil)
	require.Equal(t, "violation violation violation compliant compliant", outcomes())
	b.press("/")
	require.Equal(t, "find", b.text(`document.activeElement.id`))
	for _, key := range strings.Split("b62e47ab", "") {
		b.press(key)
	}
	require.Equal(t, "1 of 5 sessions", count())

	// A session, by keys.
	b.eval(`document.activeElement.blur()`, nil)
	b.press("j")
	b.press("Enter")
	require.Equal(t, 1, b.number(`document.querySelectorAll('tr.detail').length`))
	require.Equal(t, "true", b.text(`document.activeElement.getAttribute('aria-expanded')`))
	require.Contains(t, hash(), "session=b62e47ab569270430d61e3c65edd1df1")
	detail := b.text(`document.querySelector('tr.detail').innerText`)
	require.Contains(t, detail, "no-action-on-an-unsealed-fact: got !Refund, expected !Read")
	require.Contains(t, detail, "recorded in traces.jsonl:4")
	require.Contains(t, detail, "TARGET_MISMATCH The result is about something else than was asked for.")
	require.NotContains(t, detail, "B-2", "content is shown only if it is asked for")
	require.Equal(t, "time,user,agent,get_order,refund,no-action-on-an-unsealed-fact", b.text(`[...document.querySelectorAll('.lanes thead th')].map((e) => e.textContent).join(',')`))
	require.Equal(t, "violation, expected !Read (not legal here)", b.text(`document.querySelector('.lanes tr.bad .expected').textContent`))
	require.Equal(t, "✓ !Read|✓ ?NoFact|✗ !Refund", b.text(`[...document.querySelectorAll('.lanes tbody tr')].map((r) => r.cells[5].querySelector('.tag')).filter(Boolean).map((e) => e.textContent).join('|')`))
	require.Equal(t, "◂ |✗ source mismatch", b.text(`[...document.querySelectorAll('.lanes tbody tr')].map((r) => r.cells[3]).filter((c) => c.textContent.startsWith('◂')).map((c) => [...c.querySelectorAll('.tag')].map((e) => e.textContent).join('|')).join(';')`))
	require.Equal(t, "!Read,?NoFact", b.text(`[...document.querySelectorAll('tr.detail text.taken')].map((e) => e.dataset.event).sort().join(',')`))
	require.Equal(t, "✗ !Refund", b.text(`document.querySelector('tr.detail .broken text').textContent`))
	require.Equal(t, "The way taken: !Read ?NoFact; then !Refund, which was not legal; it ended in state unread", b.text(`document.querySelector('tr.detail svg').getAttribute('aria-label')`))
	if file := os.Getenv("RESULTSEAL_SCREENSHOT"); file != "" {
		b.screenshot(file)
	}
	b.press("Escape")
	require.Equal(t, 0, b.number(`document.querySelectorAll('tr.detail').length`))
	require.Equal(t, "false", b.text(`document.activeElement.getAttribute('aria-expanded')`))

	// From session to session, and by mouse.
	b.click("#clear")
	b.eval(`document.querySelectorAll('#sessions tr.row button')[1].focus()`, nil)
	b.press("ArrowDown")
	b.press("ArrowDown")
	b.press("ArrowUp")
	require.Equal(t, 2, b.number(`[...document.querySelectorAll('#sessions tr.row button')].indexOf(document.activeElement)`))
	b.click("#sessions tr.row:nth-child(1) td:nth-child(3)")
	require.Equal(t, 1, b.number(`document.querySelectorAll('tr.detail').length`))
	b.click("#sessions tr.row:nth-child(3) td:nth-child(3)")
	require.Equal(t, 1, b.number(`document.querySelectorAll('tr.detail').length`), "one is open at a time")

	// The address brings back what was shown.
	b.open(file, "#outcome=violation&reason=TARGET_MISMATCH&session=b62e47ab569270430d61e3c65edd1df1")
	require.Equal(t, "1 of 5 sessions", count())
	require.Equal(t, 1, b.number(`document.querySelectorAll('tr.detail').length`))
	b.eval(`location.hash = '#outcome=compliant'`, nil)
	b.eval(`new Promise((r) => setTimeout(r, 50))`, nil)
	require.Equal(t, "2 of 5 sessions", count())

	// Every session opens.
	b.open(file, "")
	require.Equal(t, 5, b.number(`(() => { let n = 0; for (const b of [...document.querySelectorAll('#sessions tr.row')].map((r) => r.dataset.id)) { document.querySelector('tr.row[data-id="' + b + '"] button').click(); n += document.querySelectorAll('tr.detail .lanes tbody tr').length > 3 ? 1 : 0; } return n; })()`))
	b.quiet()
}

// With content, the page holds it as text, whatever it says.
func TestPageContent(t *testing.T) {
	const nasty = `</script><img src=x onerror="throw 1"><!--<script>`
	b := openBrowser(t)
	file := writePage(t, pageOptions{example: unsealed, content: true, change: func(_ int, span ptrace.Span) {
		span.SetName(nasty)
		if v, ok := span.Attributes().Get("gen_ai.tool.name"); ok && v.Str() == "refund" {
			span.Attributes().PutStr("gen_ai.tool.call.arguments", `{"order_id":"`+strings.ReplaceAll(nasty, `"`, `\"`)+`"}`)
			span.Attributes().PutStr("gen_ai.tool.call.result", nasty)
			span.Attributes().PutStr("gen_ai.tool.call.id", nasty)
			span.Attributes().PutStr("gen_ai.tool.name", nasty)
		}
		span.Attributes().PutStr("gen_ai.agent.name", nasty)
		span.Attributes().PutStr("gen_ai.conversation.id", nasty)
	}})
	b.open(file, "#session=b62e47ab569270430d61e3c65edd1df1")
	require.Equal(t, nasty, b.text(`[...document.querySelectorAll('pre.content')].map((e) => e.textContent).find((x) => x.startsWith('</script>'))`))
	require.Contains(t, b.text(`document.querySelector('tr.detail').innerText`), "B-2")
	require.Contains(t, b.text(`document.querySelector('header').innerText`), "This page holds what tools returned and people wrote.")
	b.quiet()

	// Without --show-content none of it is in the file at all.
	plain, err := os.ReadFile(writePage(t, pageOptions{example: unsealed}))
	require.NoError(t, err)
	for _, secret := range []string{"B-2", "Refund order", "shipped"} {
		require.NotContains(t, string(plain), secret)
	}
}

// A conversation shows the timelines of all its traces.
func TestPageConversation(t *testing.T) {
	b := openBrowser(t)
	file := writePage(t, pageOptions{example: "read-before-write", policy: `
protocols:
  - name: talk
    session: conversation
    protocol: "rec L.!{read_file.?read_file.L, write_file.?write_file.L}"
`, change: func(_ int, span ptrace.Span) { span.Attributes().PutStr("gen_ai.conversation.id", "c-1") }})
	b.open(file, "#session=c-1")
	require.Equal(t, "1 session", b.text(`document.querySelector('#count').textContent`))
	require.Equal(t, 3, b.number(`document.querySelectorAll('.lanes tr.trace').length`))
	require.Contains(t, b.text(`document.querySelector('tr.detail svg').getAttribute('aria-label')`), "The way taken: !read_file ?read_file !write_file ?write_file !write_file")
	b.quiet()
}

// Thousands of sessions are there at once.
func TestPageLarge(t *testing.T) {
	b := openBrowser(t)
	file := writePage(t, pageOptions{example: unsealed, times: 400})
	info, err := os.Stat(file)
	require.NoError(t, err)
	b.open(file, "")
	require.Equal(t, "2000 sessions", b.text(`document.querySelector('#count').textContent`))
	ready := b.number(`Math.round(performance.getEntriesByType('navigation')[0].loadEventStart)`)
	filtered := b.number(`(() => { const t = performance.now(); document.querySelector('[data-compliance="violation"]').click(); return Math.round(performance.now() - t); })()`)
	require.Equal(t, "1200 of 2000 sessions", b.text(`document.querySelector('#count').textContent`))
	opened := b.number(`(() => { const t = performance.now(); document.querySelector('#sessions tr.row button').click(); document.body.getBoundingClientRect(); return Math.round(performance.now() - t); })()`)
	t.Logf("%d KiB: ready after %d ms, filtered in %d ms, a session opened in %d ms", info.Size()>>10, ready, filtered, opened)
	require.Less(t, ready, 5000, "on a machine that is not busy it is well below a second")
	require.Equal(t, 200, b.number(`document.querySelectorAll('#sessions tr.row').length`))
	b.click("#more")
	require.Equal(t, 1200, b.number(`document.querySelectorAll('#sessions tr.row').length`))
	require.Equal(t, "true", b.text(`String(document.querySelector('#more').hidden)`))
	b.quiet()
}

// Who cannot see everything can read everything: names, roles, and contrast in
// light and dark.
func TestPageAccess(t *testing.T) {
	b := openBrowser(t)
	b.open(writePage(t, pageOptions{example: unsealed}), "#session=b62e47ab569270430d61e3c65edd1df1")
	require.Equal(t, "en", b.text(`document.documentElement.lang`))
	require.Empty(t, b.text(`[...document.querySelectorAll('button')].filter((e) => !(e.textContent.trim() || e.ariaLabel)).map((e) => e.outerHTML).join()`))
	require.Empty(t, b.text(`[...document.querySelectorAll('input, select')].filter((e) => !e.closest('label')).map((e) => e.outerHTML).join()`))
	require.Empty(t, b.text(`[...document.querySelectorAll('svg')].filter((e) => e.getAttribute('role') !== 'img' || !e.getAttribute('aria-label')).map((e) => e.outerHTML).join()`))
	require.Empty(t, b.text(`[...document.querySelectorAll('th')].filter((e) => !e.scope).map((e) => e.outerHTML).join()`))
	light := b.text(`getComputedStyle(document.body).backgroundColor`)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": "dark"}}})
	require.NotEqual(t, light, b.text(`getComputedStyle(document.body).backgroundColor`))
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": true})
	require.LessOrEqual(t, b.number(`document.querySelector('.filters').scrollWidth`), 400)
	b.quiet()
}

// The colours of the page can be told from its paper, and outcomes have marks.
func TestPageContrast(t *testing.T) {
	style, err := pageFiles.ReadFile("page/page.css")
	require.NoError(t, err)
	blocks := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(string(style), -1)
	require.Len(t, blocks, 2, "light and dark")
	for _, block := range blocks {
		colours := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z]+): (#[0-9a-f]{6})`).FindAllStringSubmatch(block[1], -1) {
			colours[m[1]] = m[2]
		}
		for _, name := range []string{"ink", "dim", "unjudged", "compliant", "incomplete", "unrecognized", "inconclusive", "violation", "sealed", "blocked", "uncaptured"} {
			for _, on := range []string{"paper", "soft"} {
				require.GreaterOrEqual(t, contrast(t, colours[name], colours[on]), 4.5, "%s on %s", name, on)
			}
		}
	}
	marks := map[string]bool{}
	for _, mark := range complianceMarks {
		marks[mark] = true
	}
	require.Len(t, marks, len(describe.Verdicts), "each outcome has a mark of its own")
}

// contrast is the ratio that WCAG asks for.
func contrast(t *testing.T, a, b string) float64 {
	luminance := func(colour string) float64 {
		sum := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
			require.NoError(t, err)
			c := float64(n) / 255
			if c <= 0.03928 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			sum += weight * c
		}
		return sum
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// The first screen of the page has the unjudged sessions, and the share of calls
// without a contract.
func TestPageUnjudged(t *testing.T) {
	r := reportOf(t, false, sampleInputs, samples()...)
	text := string(written(t, func(w *bytes.Buffer) error { return r.HTML(w, Page{Version: "0.1.0"}) }))
	head, _, ok := strings.Cut(text, "<main>")
	require.True(t, ok)
	require.Contains(t, head, "3 of 9 sessions unjudged: no event of a protocol occurred.")
	require.Contains(t, head, "4 of 11 tool calls (36%) without a contract")
	require.Contains(t, text, `data-compliance="unjudged" aria-pressed="false" title="No event of the protocol occurred, so it was not evaluated."><span class="mark" aria-hidden="true">○</span> unjudged <b>3</b>`)
	require.Contains(t, text, `"finding":"unjudged: no protocol follows the session"`)

	r = reportOf(t, false, Inputs{Files: 1, Spans: 6}, samples()[0])
	text = string(written(t, func(w *bytes.Buffer) error { return r.HTML(w, Page{Version: "0.1.0"}) }))
	head, _, _ = strings.Cut(text, "<main>")
	_, head, _ = strings.Cut(head, "</style>")
	require.NotContains(t, head, "unjudged")
	require.NotContains(t, head, "without a contract")
}

// A page needs no accounts to be written, and says what could not be read.
func TestPageWithoutDetails(t *testing.T) {
	for name, r := range reports(t) {
		text := string(written(t, func(w *bytes.Buffer) error { return r.HTML(w, Page{Version: "0.1.0"}) }))
		require.Contains(t, text, "<!DOCTYPE html>", name)
		if r.Inputs.Broken > 0 {
			require.Contains(t, text, "1 part of the input could not be read")
		}
		for _, s := range []string{"http://", "https://", "src=", "@import", "url("} {
			require.NotContains(t, strings.ReplaceAll(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", ""), "url(#", ""), s, "nothing is loaded")
		}
	}
}
