// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

// Direction says who an event comes from: the agent that is watched, or the
// other side.
type Direction uint8

// The two directions.
const (
	Send    Direction = iota // the agent acts: "!"
	Receive                  // the agent is answered: "?"
)

// String returns the mark that stands before a label: "!" or "?".
func (d Direction) String() string {
	if d == Receive {
		return "?"
	}
	return "!"
}

// UnrecognizedLabel is the sentinel label of an event that was seen and could not be
// named. Where a state has no edge for it, it changes nothing.
const UnrecognizedLabel = "Unrecognized"

// Event is something that happened: a direction, a label and what it carried.
type Event struct {
	Direction Direction
	Label     string
	Payload   Payload // nil: no fields
}

// String returns the event as the language writes it, without its payload:
// "!label".
func (e Event) String() string { return e.Direction.String() + e.Label }

// Payload is what guards and bindings read of an event: the top-level keys of a
// JSON object. A nil Payload has no fields.
type Payload interface {
	// Field returns the value under a key, and false where the key is absent. A
	// null that is present is a value.
	Field(name string) (Value, bool)
}

// Fields is a Payload in a map.
type Fields map[string]Value

// Field returns the value under a key.
func (f Fields) Field(name string) (Value, bool) {
	v, ok := f[name]
	return v, ok
}
