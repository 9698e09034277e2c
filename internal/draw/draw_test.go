// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/session"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// Drawings that were looked at.
func TestGolden(t *testing.T) {
	for name, source := range map[string]string{
		"sequence":     "!SearchFlights.?FlightResults.!PresentOptions.?UserApproval.!BookFlight.?BookingConfirmation.end",
		"loop":         "rec L.!{Read(path as last).L, Write(path == last, mode != '<x>').L, Answer.end}",
		"back":         "rec Again.!Search.?Results.!Present.?{Approval.!Book.?Confirmation.end, Refinement.Again}",
		"long":         "!Charge.?{Paid.end, Failed.!Charge.?{Paid.end, Failed.!Charge.?{Paid, Failed}}}",
		"nested-loops": "rec Main.?Task.!{Retryable.rec Try.!Call.?{Fail.Try,Ok},Simple.!Call}.Main",
	} {
		p, err := session.Parse(source)
		require.NoError(t, err)
		a, _, err := session.Compile(p)
		require.NoError(t, err)
		got := SVG(a.Shape(), "g", "protocol "+name)
		path := filepath.Join("testdata", name+".svg")
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
			continue
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err, "run the test with -update")
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// shapes makes automata of any form.
func shapes(t *rapid.T) session.Shape {
	n := rapid.IntRange(1, 12).Draw(t, "states")
	var s session.Shape
	for i := range n {
		s.States = append(s.States, session.StateShape{
			Name: rapid.SampledFrom([]string{fmt.Sprint(i), "a rather long name", "<&>"}).Draw(t, "name"), Terminal: rapid.Bool().Draw(t, "terminal"),
		})
	}
	for i := range rapid.IntRange(0, 24).Draw(t, "edges") {
		s.Edges = append(s.Edges, session.EdgeShape{
			From: rapid.IntRange(0, n-1).Draw(t, "from"), To: rapid.IntRange(0, n-1).Draw(t, "to"),
			Event:  fmt.Sprintf("!e%d", i),
			Guards: rapid.SampledFrom([]string{"", "a == b", `x != "<"`}).Draw(t, "guards"), Bindings: rapid.SampledFrom([]string{"", "a as b"}).Draw(t, "bindings"),
		})
	}
	return s
}

// Whatever the automaton, states do not overlap, nothing lies outside, and every
// state and event is drawn once.
func TestLayout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := shapes(t)
		g := layout(s)
		for i, a := range g.nodes[:len(s.States)] {
			require.GreaterOrEqual(t, a.x-a.width/2, 0.0)
			require.GreaterOrEqual(t, a.y-a.height/2, 0.0)
			require.LessOrEqual(t, a.x+a.width/2, g.width)
			require.LessOrEqual(t, a.y+a.height/2, g.height)
			for _, b := range g.nodes[:i] {
				apart := a.x+a.width/2 <= b.x-b.width/2 || b.x+b.width/2 <= a.x-a.width/2 ||
					a.y+a.height/2 <= b.y-b.height/2 || b.y+b.height/2 <= a.y-a.height/2
				require.True(t, apart, "states %d and %d", a.state, b.state)
			}
		}
		for _, e := range g.edges {
			require.GreaterOrEqual(t, e.labelX-e.labelWidth()/2, 0.0)
			require.LessOrEqual(t, e.labelX+e.labelWidth()/2, g.width)
			require.GreaterOrEqual(t, e.labelY-lineHeight, -0.001)
			for _, p := range e.points {
				require.LessOrEqual(t, p.y, g.height)
				require.GreaterOrEqual(t, p.y, 0.0)
			}
			if !e.back {
				require.Less(t, g.nodes[e.from].x, g.nodes[e.to].x, "edges lead to the right unless they lead back")
			}
		}

		text := SVG(s, "id", "t<itle")
		require.Equal(t, text, SVG(s, "id", "t<itle"))
		states, events := 0, map[string]int{}
		for d := xml.NewDecoder(strings.NewReader(text)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			start, ok := token.(xml.StartElement)
			for _, a := range start.Attr {
				if ok && a.Name.Local == "data-event" {
					events[a.Value]++
				}
				if ok && a.Name.Local == "data-state" {
					states++
				}
			}
		}
		require.Equal(t, len(s.States), states)
		require.Len(t, events, len(s.Edges))
		for event, n := range events {
			require.Equal(t, 1, n, event)
		}
	})
}
