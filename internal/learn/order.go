// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

// Events that are no calls. No tool can have such a name; labels are chosen when
// they are written.
const (
	userMessage  = "?\x00user"
	agentMessage = "!\x00agent"
)

// order is the order in which things happened: a tree of all beginnings of runs.
type order struct {
	nodes []prefix // the first is the beginning
	runs  int
	full  bool // there were more beginnings than are kept
}

// prefix is a beginning of runs.
type prefix struct {
	event string // that led here
	next  map[string]int
	// repeats is set if what led here happened several times in a row. How often
	// is taken to make no difference.
	repeats bool
	runs    int // that go through here
	ends    int // of these, those that end here
}

// maxPrefixes bounds the tree. Runs beyond it are not learned from.
const maxPrefixes = 100_000

func newOrder() *order { return &order{nodes: []prefix{{next: map[string]int{}}}} }

// add adds a run.
func (o *order) add(run []string) {
	o.runs++
	at := 0
	o.nodes[0].runs++
	for i, label := range run {
		if i > 0 && run[i-1] == label {
			o.nodes[at].repeats = true
			continue
		}
		next, ok := o.nodes[at].next[label]
		if !ok {
			if len(o.nodes) >= maxPrefixes {
				o.full = true
				return
			}
			next = len(o.nodes)
			o.nodes = append(o.nodes, prefix{event: label, next: map[string]int{}})
			o.nodes[at].next[label] = next
		}
		at = next
		o.nodes[at].runs++
	}
	o.nodes[at].ends++
}
