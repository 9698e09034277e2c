// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/session"
)

// SVG draws an automaton. The drawing has no colours of its own, but classes, by
// which a page's style gives it some: automaton, state, terminal, start, edge and
// event; states have their number in data-state, edges and events data-from and
// data-to, events their name in data-event. id tells the drawing's marker from
// those of others on a page; title is what it is called where it cannot be seen.
func SVG(s session.Shape, id, title string) string {
	g := layout(s)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="automaton" role="img" aria-label="%s" width="%s" height="%s" viewBox="0 0 %s %s" xmlns="http://www.w3.org/2000/svg">`,
		html.EscapeString(title), px(g.width), px(g.height), px(g.width), px(g.height))
	fmt.Fprintf(&b, "\n<title>%s</title>\n", html.EscapeString(title))
	fmt.Fprintf(&b, `<defs><marker id="%s-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="9" orient="auto-start-reverse"><path class="head" d="M0,0 L8,4 L0,8 z"/></marker></defs>`+"\n", html.EscapeString(id))
	arrow := fmt.Sprintf(`marker-end="url(#%s-arrow)"`, html.EscapeString(id))
	first := &g.nodes[0]
	fmt.Fprintf(&b, `<g class="start"><circle cx="%s" cy="%s" r="4"/><path class="edge" d="M%s,%s L%s,%s" %s/></g>`+"\n",
		px(first.x-first.width/2-30), px(first.y), px(first.x-first.width/2-26), px(first.y), px(first.x-first.width/2), px(first.y), arrow)
	for i := range g.edges {
		g.edges[i].write(&b, arrow)
	}
	for i := range g.nodes {
		if n := &g.nodes[i]; n.state >= 0 {
			n.write(&b)
		}
	}
	b.WriteString("</svg>")
	return b.String()
}

// px writes a length.
func px(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

func (n *node) write(b *strings.Builder) {
	class := "state"
	if n.terminal {
		class += " terminal"
	}
	fmt.Fprintf(b, `<g class="%s" data-state="%d">`, class, n.state)
	rect := func(inset float64) {
		fmt.Fprintf(b, `<rect x="%s" y="%s" width="%s" height="%s" rx="%s"/>`,
			px(n.x-n.width/2+inset), px(n.y-n.height/2+inset), px(n.width-2*inset), px(n.height-2*inset), px(n.height/2-inset))
	}
	rect(0)
	if n.terminal {
		rect(3)
	}
	fmt.Fprintf(b, `<text x="%s" y="%s">%s</text></g>`+"\n", px(n.x), px(n.y+4), html.EscapeString(n.name))
}

func (e *edge) write(b *strings.Builder, arrow string) {
	fmt.Fprintf(b, `<g class="edge" data-from="%d" data-to="%d"><path d="%s" %s/>`, e.from, e.to, e.path(), arrow)
	y := e.labelY
	for _, l := range e.labels {
		fmt.Fprintf(b, `<text class="event" data-from="%d" data-to="%d" data-event="%s" x="%s" y="%s">%s`,
			e.from, e.to, html.EscapeString(l.event), px(e.labelX), px(y), html.EscapeString(l.event))
		if l.extra != "" {
			y += lineHeight
			fmt.Fprintf(b, `<tspan class="guard" x="%s" y="%s">%s</tspan>`, px(e.labelX), px(y), html.EscapeString(l.extra))
		}
		b.WriteString("</text>")
		y += lineHeight
	}
	b.WriteString("</g>\n")
}

// path is the edge's line, curved where it bends.
func (e *edge) path() string {
	p := e.points
	var b strings.Builder
	fmt.Fprintf(&b, "M%s,%s", px(p[0].x), px(p[0].y))
	switch {
	case e.from == e.to:
		fmt.Fprintf(&b, " C%s,%s %s,%s %s,%s", px(p[1].x), px(p[1].y), px(p[2].x), px(p[2].y), px(p[3].x), px(p[3].y))
	case e.back:
		// Down, along, and up again, with round corners.
		const r = 10.0
		side := -r
		if p[2].x > p[1].x {
			side = r
		}
		if p[1].x != p[0].x { // beside what stands below
			fmt.Fprintf(&b, " C%s,%s %s,%s %s,%s", px(p[0].x), px(p[0].y+r), px(p[1].x), px(p[0].y+r/2), px(p[1].x), px(p[0].y+2*r))
		}
		fmt.Fprintf(&b, " L%s,%s Q%s,%s %s,%s L%s,%s Q%s,%s %s,%s",
			px(p[1].x), px(p[1].y-r), px(p[1].x), px(p[1].y), px(p[1].x+side), px(p[1].y),
			px(p[2].x-side), px(p[2].y), px(p[2].x), px(p[2].y), px(p[2].x), px(p[2].y-r))
		if p[2].x != p[3].x {
			fmt.Fprintf(&b, " L%s,%s C%s,%s %s,%s %s,%s", px(p[2].x), px(p[3].y+2*r), px(p[2].x), px(p[3].y+r/2), px(p[3].x), px(p[3].y+r), px(p[3].x), px(p[3].y))
		} else {
			fmt.Fprintf(&b, " L%s,%s", px(p[3].x), px(p[3].y))
		}
	default:
		for i := 1; i < len(p); i++ {
			half := (p[i].x - p[i-1].x) / 2
			fmt.Fprintf(&b, " C%s,%s %s,%s %s,%s", px(p[i-1].x+half), px(p[i-1].y), px(p[i].x-half), px(p[i].y), px(p[i].x), px(p[i].y))
		}
	}
	return b.String()
}
