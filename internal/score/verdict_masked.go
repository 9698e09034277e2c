// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"cmp"
	"maps"
	"slices"

	"github.com/resultseal/otelcol-resultseal/internal/mask"
)

// MaskedName returns the event's name for a report that shows no content: a label
// that was rendered from content is masked.
func (e *Event) MaskedName(values *mask.Values) string {
	if e.Rendered == "" {
		return e.Name
	}
	return e.Name[:1] + values.Text(e.Rendered)
}

// FullName returns the event's name for a report that shows content.
func (e *Event) FullName() string {
	if e.Rendered == "" {
		return e.Name
	}
	return e.Name[:1] + e.Rendered
}

// MaskedRegisters returns the masks of the event's registers by their names; nil
// if it has none.
func (e *Event) MaskedRegisters(values *mask.Values) map[string]string {
	if e.Registers == nil {
		return nil
	}
	out := make(map[string]string, len(e.Registers))
	for _, name := range slices.Sorted(maps.Keys(e.Registers)) {
		out[name] = values.JSON(e.Registers[name])
	}
	return out
}

// Number numbers the values that the verdict's events hold, in the order of the
// events' times, so that they have the same numbers in every form of a report,
// whatever it shows of them. of returns the values of the session that a
// protocol's verdict belongs to, nil to leave it out.
func (v *Session) Number(of func(*Protocol) *mask.Values) {
	type step struct {
		values *mask.Values
		event  *Event
	}
	var steps []step
	for i := range v.Protocols {
		p := &v.Protocols[i]
		values := of(p)
		if values == nil {
			continue
		}
		for j := range p.Events {
			if e := &p.Events[j]; e.Rendered != "" || len(e.Registers) > 0 {
				steps = append(steps, step{values, e})
			}
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.event.Time, b.event.Time) })
	for _, s := range steps {
		s.event.MaskedName(s.values)
		s.event.MaskedRegisters(s.values)
	}
}
