// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"fmt"

	"github.com/resultseal/otelcol-resultseal/internal/session"
)

// A file may be written only after it was read.
func Example() {
	p, err := session.Parse("rec L.!{read(path as p).L, write(path == p).L, stop}")
	if err != nil {
		fmt.Println(err)
		return
	}
	a, _, err := session.Compile(p)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := a.NewMonitor()
	for _, e := range []session.Event{
		{Label: "read", Payload: session.Fields{"path": session.StringValue("/etc/hosts")}},
		{Label: "write", Payload: session.Fields{"path": session.StringValue("/etc/hosts")}},
		{Label: "write", Payload: session.Fields{"path": session.StringValue("/etc/passwd")}},
		{Label: "stop"},
	} {
		o := m.Step(e.Direction, e.Label, e.Payload)
		fmt.Println(e, o.Result, o.Cause, o.Expected)
	}
	// Output:
	// !read ok  [!read !stop !write]
	// !write ok  [!read !stop !write]
	// !write violation guard [!read !stop !write]
	// !stop blocked  []
}

// An error shows where a protocol is wrong.
func ExampleParse_error() {
	_, err := session.Parse("!Search.\n?{Results, Nothing.}\n.!Book")
	fmt.Println(err.(*session.Error).Detail())
	// Output:
	// 2:20: expected '!', '?', 'rec', 'end' or a variable, found '}'
	// ?{Results, Nothing.}
	//                    ^
}
