// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"errors"
	"fmt"
	"slices"
)

// Snapshot is a monitor at rest: all that its future depends on. As JSON it is
// an object with the keys protocol, state, halted and registers. A trace is not
// part of it.
type Snapshot struct {
	Protocol  string           `json:"protocol"` // Automaton.Hash
	State     int              `json:"state"`
	Halted    bool             `json:"halted"`
	Registers map[string]Value `json:"registers,omitempty"`
	// Hashed are the registers of which only a hash of the value was kept. JSON has
	// it as a string.
	Hashed []string `json:"hashed,omitempty"`
}

var (
	// ErrProtocolChanged is a snapshot of another protocol. Its state number
	// would mean something else here.
	ErrProtocolChanged = errors.New("the snapshot is of another protocol")
	// ErrBadSnapshot is a snapshot that no monitor of this protocol can be in.
	ErrBadSnapshot = errors.New("the snapshot is damaged")
)

// Snapshot returns the monitor's state.
func (m *Monitor) Snapshot() Snapshot {
	s := Snapshot{Protocol: m.automaton.hash, State: int(m.state), Halted: m.halted}
	for _, r := range m.Registers() {
		if s.Registers == nil {
			s.Registers = map[string]Value{}
		}
		s.Registers[r.Name] = r.Value
		if r.Value.IsHashed() {
			s.Hashed = append(s.Hashed, r.Name)
		}
	}
	return s
}

// Restore returns a monitor that goes on where the snapshot was taken. The error
// wraps ErrProtocolChanged or ErrBadSnapshot.
func (a *Automaton) Restore(s Snapshot, options ...Option) (*Monitor, error) {
	if s.Protocol != a.hash {
		return nil, fmt.Errorf("%w: its hash is %q, the protocol's is %q", ErrProtocolChanged, s.Protocol, a.hash)
	}
	if s.State < 0 || s.State >= len(a.states) {
		return nil, fmt.Errorf("%w: state %d, of %d states", ErrBadSnapshot, s.State, len(a.states))
	}
	m := a.NewMonitor(options...)
	m.state, m.halted = int32(s.State), s.Halted
	for name, v := range s.Registers {
		i, ok := slices.BinarySearch(a.registers, name)
		if ok && slices.Contains(s.Hashed, name) && !v.IsHashed() {
			v = HashedValue(v.text)
		}
		if !ok || v.IsZero() {
			return nil, fmt.Errorf("%w: register %q", ErrBadSnapshot, name)
		}
		if m.registers == nil {
			m.registers = make([]Value, len(a.registers))
		}
		m.registers[i] = v
	}
	return m, nil
}
