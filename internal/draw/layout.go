// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package draw draws an automaton as SVG, from left to right: the states in
// layers, each edge with its events.
//
// layout.go places states and edges, by the usual steps of a layered drawing:
// edges that lead back are turned around, states are put into layers, each
// layer is ordered so that edges cross little, and places follow. svg.go writes
// it down. Equal automata are drawn equally, to the byte.
package draw

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/resultseal/otelcol-resultseal/internal/session"
)

// Measures of the drawing, in pixels. Widths of texts are guessed: there is no
// font here.
const (
	charWidth   = 7.2 // of the labels' font
	lineHeight  = 15.0
	stateHeight = 30.0
	stateWidth  = 30.0 // at least
	rowGap      = 26.0 // between what stands one below the other in a layer
	layerGap    = 46.0 // between layers, beside the labels
	margin      = 16.0
	backGap     = 20.0 // between edges that lead back
	loopHeight  = 26.0
)

// graph is a drawing in the making.
type graph struct {
	nodes  []node // the states, then the bends of long edges
	edges  []edge
	layers [][]int // nodes by layer, from above
	width  float64
	height float64
}

// node is a state, or a place that a long edge goes through.
type node struct {
	state         int // -1 for a bend
	name          string
	terminal      bool
	layer         int
	x, y          float64 // of the middle
	width, height float64
}

// edge is all events that lead from one state to another.
type edge struct {
	from, to int
	labels   []label
	back     bool  // it leads to an earlier layer, or stays
	bends    []int // nodes in between, in order of layers

	points         []point
	labelX, labelY float64 // of the middle of the first line
}

type point struct{ x, y float64 }

// label is an event with what it requires.
type label struct {
	event string
	extra string // guards and bindings
}

func (l label) width() float64 {
	return charWidth * float64(max(utf8.RuneCountInString(l.event), utf8.RuneCountInString(l.extra)))
}

func (l label) lines() int {
	if l.extra == "" {
		return 1
	}
	return 2
}

func (e *edge) labelWidth() float64 {
	w := 0.0
	for _, l := range e.labels {
		w = max(w, l.width())
	}
	return w
}

func (e *edge) labelHeight() float64 {
	n := 0
	for _, l := range e.labels {
		n += l.lines()
	}
	return lineHeight * float64(n)
}

// layout places everything.
func layout(s session.Shape) *graph {
	g := &graph{}
	for i, st := range s.States {
		g.nodes = append(g.nodes, node{
			state: i, name: st.Name, terminal: st.Terminal, height: stateHeight,
			width: max(stateWidth, charWidth*float64(utf8.RuneCountInString(st.Name))+14),
		})
	}
	g.join(s)
	g.turnAround()
	g.layer()
	g.bend()
	g.order()
	g.place()
	g.route()
	return g
}

// join makes one edge of all that lead from one state to another.
func (g *graph) join(s session.Shape) {
	type pair struct{ from, to int }
	at := map[pair]int{}
	for _, e := range s.Edges {
		extra := ""
		if e.Guards != "" {
			extra = "[" + e.Guards + "]"
		}
		if e.Bindings != "" {
			if extra != "" {
				extra += " "
			}
			extra += e.Bindings
		}
		key := pair{e.From, e.To}
		i, ok := at[key]
		if !ok {
			i = len(g.edges)
			at[key] = i
			g.edges = append(g.edges, edge{from: e.From, to: e.To})
		}
		g.edges[i].labels = append(g.edges[i].labels, label{e.Event, extra})
	}
}

// turnAround finds the edges that lead back: to a state from which a walk in the
// order of the edges came here.
func (g *graph) turnAround() {
	const unseen, onWalk, done = 0, 1, 2
	out := make([][]int, len(g.nodes))
	for i := range g.edges {
		out[g.edges[i].from] = append(out[g.edges[i].from], i)
	}
	state := make([]uint8, len(g.nodes))
	next := make([]int, len(g.nodes))
	for start := range g.nodes {
		if state[start] != unseen {
			continue
		}
		walk := []int{start}
		state[start] = onWalk
		for len(walk) > 0 {
			at := walk[len(walk)-1]
			if next[at] == len(out[at]) {
				state[at] = done
				walk = walk[:len(walk)-1]
				continue
			}
			e := &g.edges[out[at][next[at]]]
			next[at]++
			switch state[e.to] {
			case onWalk:
				e.back = true
			case unseen:
				state[e.to] = onWalk
				walk = append(walk, e.to)
			}
		}
	}
}

// layer puts each state one layer behind the last of those that lead to it.
func (g *graph) layer() {
	ahead := make([]int, len(g.nodes)) // edges to a state that are not yet followed
	for i := range g.edges {
		if e := &g.edges[i]; !e.back {
			ahead[e.to]++
		}
	}
	var ready []int
	for i := range g.nodes {
		if ahead[i] == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		at := ready[0]
		ready = ready[1:]
		for i := range g.edges {
			e := &g.edges[i]
			if e.from != at || e.back {
				continue
			}
			g.nodes[e.to].layer = max(g.nodes[e.to].layer, g.nodes[at].layer+1)
			if ahead[e.to]--; ahead[e.to] == 0 {
				ready = append(ready, e.to)
			}
		}
	}
}

// bend gives an edge that goes over several layers a place in each.
func (g *graph) bend() {
	for i := range g.edges {
		e := &g.edges[i]
		if e.back {
			continue
		}
		for l := g.nodes[e.from].layer + 1; l < g.nodes[e.to].layer; l++ {
			e.bends = append(e.bends, len(g.nodes))
			g.nodes = append(g.nodes, node{state: -1, layer: l, height: lineHeight})
		}
	}
}

// neighbours lists what stands before and behind each node in the next layers.
func (g *graph) neighbours() (before, behind [][]int) {
	before, behind = make([][]int, len(g.nodes)), make([][]int, len(g.nodes))
	for i := range g.edges {
		e := &g.edges[i]
		if e.back {
			continue
		}
		chain := append(append([]int{e.from}, e.bends...), e.to)
		for j := 1; j < len(chain); j++ {
			behind[chain[j-1]] = append(behind[chain[j-1]], chain[j])
			before[chain[j]] = append(before[chain[j]], chain[j-1])
		}
	}
	return before, behind
}

// sweeps is how often layers are put in order; more changes nothing to speak of.
const sweeps = 8

// order orders each layer by where the neighbours in the layer before, then in
// the layer behind, stand.
func (g *graph) order() {
	before, behind := g.neighbours()
	for i := range g.nodes {
		for len(g.layers) <= g.nodes[i].layer {
			g.layers = append(g.layers, nil)
		}
		g.layers[g.nodes[i].layer] = append(g.layers[g.nodes[i].layer], i)
	}
	at := make([]float64, len(g.nodes))
	number := func(layer []int) {
		for i, n := range layer {
			at[n] = float64(i)
		}
	}
	for _, layer := range g.layers {
		number(layer)
	}
	sort := func(layer []int, neighbours [][]int) {
		weight := map[int]float64{}
		for _, n := range layer {
			weight[n] = at[n]
			if list := neighbours[n]; len(list) > 0 {
				sum := 0.0
				for _, m := range list {
					sum += at[m]
				}
				weight[n] = sum / float64(len(list))
			}
		}
		slices.SortStableFunc(layer, func(a, b int) int { return cmp.Compare(weight[a], weight[b]) })
		number(layer)
	}
	for range sweeps {
		for l := 1; l < len(g.layers); l++ {
			sort(g.layers[l], before)
		}
		for l := len(g.layers) - 2; l >= 0; l-- {
			sort(g.layers[l], behind)
		}
	}
}

// place gives states and bends their places.
func (g *graph) place() {
	// Above a state there is room for edges that lead to itself, and for what the
	// edges that end here say.
	above, below := make([]float64, len(g.nodes)), make([]float64, len(g.nodes))
	for i := range g.nodes {
		above[i], below[i] = g.nodes[i].height/2, g.nodes[i].height/2
	}
	gaps := make([]float64, len(g.layers)) // the width of what edges say
	for i := range g.edges {
		e := &g.edges[i]
		switch {
		case e.from == e.to:
			above[e.from] += loopHeight + e.labelHeight()
		case !e.back:
			first := e.first()
			above[first] = max(above[first], e.labelHeight()+lineHeight/2)
			l := g.nodes[e.from].layer
			gaps[l] = max(gaps[l], e.labelWidth())
		}
	}
	g.columns(gaps)
	g.rows(above, below)

	top, bottom := 0.0, 0.0
	for i := range g.nodes {
		top = min(top, g.nodes[i].y-above[i])
		bottom = max(bottom, g.nodes[i].y+below[i])
	}
	g.height = bottom + margin
	g.shift(0, margin-top)
}

// first is the node at which an edge ends, or bends first.
func (e *edge) first() int {
	if len(e.bends) > 0 {
		return e.bends[0]
	}
	return e.to
}

// columns gives each layer its place from the left.
func (g *graph) columns(gaps []float64) {
	x := margin + layerGap // room for the arrow to the first state
	for l, layer := range g.layers {
		widest := 0.0
		for _, n := range layer {
			widest = max(widest, g.nodes[n].width, loopWidth(g, n))
		}
		x += widest / 2
		for _, n := range layer {
			g.nodes[n].x = x
		}
		x += widest / 2
		g.width = x + margin
		x += layerGap + gaps[l]
	}
}

// rows gives each node its place from above: as near as can be to its neighbours,
// in the order of its layer.
func (g *graph) rows(above, below []float64) {
	before, behind := g.neighbours()
	spread := func(layer []int, want []float64) {
		// Forward, each as far down as those above it need; then all of them up
		// by how much they are too low on average.
		y := make([]float64, len(layer))
		low := 0.0
		for i, n := range layer {
			y[i] = want[i]
			if i > 0 {
				last := layer[i-1]
				y[i] = max(y[i], y[i-1]+below[last]+rowGap+above[n])
			}
			low += y[i] - want[i]
		}
		low /= float64(len(layer))
		for i, n := range layer {
			g.nodes[n].y = y[i] - low
		}
	}
	for _, layer := range g.layers {
		spread(layer, make([]float64, len(layer)))
	}
	near := func(layer []int, neighbours [][]int) {
		want := make([]float64, len(layer))
		for i, n := range layer {
			want[i] = g.nodes[n].y
			if list := neighbours[n]; len(list) > 0 {
				sum := 0.0
				for _, m := range list {
					sum += g.nodes[m].y
				}
				want[i] = sum / float64(len(list))
			}
		}
		spread(layer, want)
	}
	for range sweeps {
		for l := 1; l < len(g.layers); l++ {
			near(g.layers[l], before)
		}
		for l := len(g.layers) - 2; l >= 0; l-- {
			near(g.layers[l], behind)
		}
	}
	for l := 1; l < len(g.layers); l++ {
		near(g.layers[l], before)
	}
}

// loopWidth is how wide what leads from a state to itself is.
func loopWidth(g *graph, n int) float64 {
	for i := range g.edges {
		if e := &g.edges[i]; e.from == n && e.to == n {
			return e.labelWidth()
		}
	}
	return 0
}

// route draws the edges between the places.
func (g *graph) route() {
	var back []*edge
	for i := range g.edges {
		e := &g.edges[i]
		from, to := &g.nodes[e.from], &g.nodes[e.to]
		switch {
		case e.from == e.to:
			top := from.y - from.height/2
			e.points = []point{{from.x - 8, top}, {from.x - 16, top - loopHeight}, {from.x + 16, top - loopHeight}, {from.x + 8, top}}
			e.labelX, e.labelY = from.x, top-loopHeight*0.75-e.labelHeight()+lineHeight/2
		case e.back:
			back = append(back, e)
		default:
			e.points = []point{{from.x + from.width/2, from.y}}
			for _, b := range e.bends {
				e.points = append(e.points, point{g.nodes[b].x, g.nodes[b].y})
			}
			e.points = append(e.points, point{to.x - to.width/2, to.y})
			end := e.points[1]
			e.labelX = (e.points[0].x + end.x) / 2
			if len(e.bends) > 0 {
				e.labelX = end.x - e.labelWidth()/2 - 4
			}
			e.labelY = end.y + (e.points[0].y-end.y)*0.3 - e.labelHeight() + lineHeight/2
		}
	}
	// Edges that lead back go below everything, the short ones inside the long
	// ones.
	slices.SortStableFunc(back, func(a, b *edge) int {
		return cmp.Compare(g.nodes[a.from].layer-g.nodes[a.to].layer, g.nodes[b.from].layer-g.nodes[b.to].layer)
	})
	y := g.height - margin
	for _, e := range back {
		from, to := &g.nodes[e.from], &g.nodes[e.to]
		y += backGap + e.labelHeight()
		// Where another state stands below, the way is beside it.
		down, up := from.x+g.aside(e.from), to.x-g.aside(e.to)
		e.points = []point{
			{from.x, from.y + from.height/2},
			{down, y},
			{up, y},
			{to.x, to.y + to.height/2},
		}
		e.labelX = (down + up) / 2
		e.labelY = y - e.labelHeight() - 4 + lineHeight/2
		half := e.labelWidth()/2 + margin
		g.width = max(g.width, e.labelX+half)
		g.height = y + margin
	}
	// Nothing stands left of or above the drawing.
	left, top := 0.0, 0.0
	for i := range g.edges {
		e := &g.edges[i]
		left = min(left, e.labelX-e.labelWidth()/2-margin/2)
		top = min(top, e.labelY-lineHeight)
		g.width = max(g.width, e.labelX+e.labelWidth()/2+margin/2)
	}
	g.shift(-left, -top)
}

// aside is how far a way down from a node has to be beside it, so that it leads
// past what stands below.
func (g *graph) aside(n int) float64 {
	layer := g.layers[g.nodes[n].layer]
	widest := 0.0
	for _, m := range layer[slices.Index(layer, n)+1:] {
		widest = max(widest, g.nodes[m].width)
	}
	if widest == 0 {
		return 0
	}
	return widest/2 + 10
}

func (g *graph) shift(dx, dy float64) {
	for i := range g.nodes {
		g.nodes[i].x += dx
		g.nodes[i].y += dy
	}
	for i := range g.edges {
		e := &g.edges[i]
		e.labelX += dx
		e.labelY += dy
		for j := range e.points {
			e.points[j].x += dx
			e.points[j].y += dy
		}
	}
	g.width += dx
	g.height += dy
}
