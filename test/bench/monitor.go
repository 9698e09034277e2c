// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"

	"github.com/resultseal/otelcol-resultseal/internal/session"
)

// monitor measures a step of a protocol: with its label looked up beforehand and by its
// name, without guards and with two that hold.
func monitor(budget) ([]*contest, error) {
	p, err := session.Parse(`rec L.?{read(path as p).L, write(path == p, mode != "append").L, list.L, done}`)
	if err != nil {
		return nil, err
	}
	a, _, err := session.Compile(p)
	if err != nil {
		return nil, err
	}
	c := &contest{name: "monitor"}
	// An interface is made of it here, not in every step.
	var payload session.Payload = session.Fields{"path": session.StringValue("/srv/app.py"), "mode": session.StringValue("w")}
	stepper := func(name string, step func(*session.Monitor) session.Outcome) contestant {
		m := a.NewMonitor()
		m.Receive("read", payload)
		return repeated(name, func() error {
			if step(m); m.Halted() {
				return errors.New("the protocol refused the step")
			}
			return nil
		})
	}
	for _, s := range []struct {
		what, label string
		payload     session.Payload
		resolved    target
		named       target
	}{
		{"step of a monitor", "list", nil, target{nsAtMost: 10, hasAllocs: true}, target{nsAtMost: 50, hasAllocs: true}},
		{"step of a monitor with two guards", "write", payload, target{nsAtMost: 200, hasAllocs: true}, target{nsAtMost: 200, hasAllocs: true}},
	} {
		symbol := a.Symbol(session.Receive, s.label)
		n := len(c.contestants)
		c.contestants = append(c.contestants,
			stepper(s.label+", label resolved", func(m *session.Monitor) session.Outcome { return m.StepSymbol(symbol, s.payload) }),
			stepper(s.label+", by name", func(m *session.Monitor) session.Outcome { return m.Step(session.Receive, s.label, s.payload) }))
		c.lines = append(c.lines,
			line{what: s.what + ", label resolved", of: n, against: alone, target: s.resolved},
			line{what: s.what + ", by name", of: n + 1, against: alone, target: s.named})
	}
	return []*contest{c}, nil
}
