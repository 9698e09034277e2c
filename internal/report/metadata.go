// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

// Part is a contract or a protocol of the policy, as reports describe it.
type Part struct {
	Name        string `json:"name"`
	Severity    string `json:"severity"`
	Description string `json:"description,omitempty"`
	Owner       string `json:"owner,omitempty"`
	Runbook     string `json:"runbook,omitempty"`
}

// Parts are the contracts and protocols of the policy, in its order.
type Parts struct {
	Contracts []Part `json:"contracts"`
	Protocols []Part `json:"protocols"`
}

func partOf(name string, m *policy.Metadata) Part {
	return Part{Name: name, Severity: m.Severity.String(), Description: m.Description, Owner: m.Owner, Runbook: m.Runbook}
}

func partsOf(p *policy.Policy) *Parts {
	parts := &Parts{Contracts: []Part{}, Protocols: []Part{}}
	for _, c := range p.Contracts {
		parts.Contracts = append(parts.Contracts, partOf(c.Name, &c.Metadata))
	}
	for _, c := range p.Protocols {
		parts.Protocols = append(parts.Protocols, partOf(c.Name, &c.Metadata))
	}
	return parts
}

// described reports whether a part has more metadata than its severity.
func (p *Part) described() bool { return p.Description != "" || p.Owner != "" || p.Runbook != "" }

// usual reports whether a part has the default metadata.
func (p *Part) usual() bool { return p.Severity == defaultSeverity && !p.described() }

// anyMetadata reports whether one of the parts has other than the default metadata.
func (ps *Parts) anyMetadata() bool {
	return slices.ContainsFunc(slices.Concat(ps.Contracts, ps.Protocols), func(p Part) bool { return !p.usual() })
}

// lines returns the description, owner and runbook of a part, for a text.
func (p *Part) lines() []string {
	var lines []string
	if p.Description != "" {
		lines = append(lines, p.Description)
	}
	if p.Owner != "" {
		lines = append(lines, "owner: "+p.Owner)
	}
	if p.Runbook != "" {
		lines = append(lines, "runbook: "+p.Runbook)
	}
	return lines
}

// aside returns the owner and the runbook of a part on one line; "" if it has
// neither.
func (p *Part) aside() string {
	var words []string
	if p.Owner != "" {
		words = append(words, "owner "+p.Owner)
	}
	if p.Runbook != "" {
		words = append(words, "runbook "+p.Runbook)
	}
	return strings.Join(words, ", ")
}

// defaultSeverity is the severity that a policy need not name.
var defaultSeverity = policy.SeverityWarning.String()

// severities lists them from the least to the most severe.
var severities = []string{policy.SeverityInfo.String(), policy.SeverityWarning.String(), policy.SeverityCritical.String()}

// severityRank orders severities, from 0 for the least severe.
func severityRank(severity string) int { return max(0, slices.Index(severities, severity)) }

// severities lists those that the parts have, the most severe first.
func (ps *Parts) severities() []string {
	has := map[string]bool{}
	for _, p := range slices.Concat(ps.Contracts, ps.Protocols) {
		has[p.Severity] = true
	}
	var list []string
	for _, s := range slices.Backward(severities) {
		if has[s] {
			list = append(list, s)
		}
	}
	return list
}

// index finds parts by name.
type index struct{ contracts, protocols map[string]*Part }

func indexOf(parts *Parts) *index {
	ix := &index{contracts: map[string]*Part{}, protocols: map[string]*Part{}}
	if parts == nil {
		return ix
	}
	for i := range parts.Contracts {
		ix.contracts[parts.Contracts[i].Name] = &parts.Contracts[i]
	}
	for i := range parts.Protocols {
		ix.protocols[parts.Protocols[i].Name] = &parts.Protocols[i]
	}
	return ix
}

// contract returns the contract of an observation.
func (s *Session) contract(o *Observation) *Part {
	if p := s.index.contracts[o.Contract]; p != nil {
		return p
	}
	return &Part{Name: o.Contract, Severity: o.Severity}
}

// protocolPart returns the protocol of a verdict.
func (s *Session) protocolPart(p *Protocol) *Part {
	if part := s.index.protocols[p.Name]; part != nil {
		return part
	}
	return &Part{Name: p.Name, Severity: p.Severity}
}
