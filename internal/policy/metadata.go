// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Severity is the severity of a result that a contract blocks, or of a session
// that does not follow a protocol. The zero value is SeverityWarning.
type Severity uint8

const (
	SeverityWarning  Severity = iota // look at it today
	SeverityInfo                     // look at it when there is time
	SeverityCritical                 // look at it now
)

// severities lists them from the least to the most severe.
var severities = []Severity{SeverityInfo, SeverityWarning, SeverityCritical}

// severityNames spells them as the policy file does, in the same order.
var severityNames = []string{"info", "warning", "critical"}

// String returns the severity as the policy file spells it.
func (s Severity) String() string { return name(severityNames, uint8(s.Rank())) }

// Rank orders severities: 0 for info, 1 for warning, 2 for critical.
func (s Severity) Rank() int { return slices.Index(severities, s) }

// Metadata is what a contract or a protocol has for the people who get to see
// its verdicts. It changes no verdict.
type Metadata struct {
	Severity    Severity
	Description string // may have several lines; "" if there is none
	Owner       string // "" if there is none
	Runbook     string // an absolute URL with the scheme http or https; "" if there is none
}

// metadataKeys are the keys of the shared block.
var metadataKeys = []string{"severity", "description", "owner", "runbook", "acknowledge"}

const (
	maxDescriptionLength = 4096 // in characters
	maxOwnerLength       = 256  // in characters
	maxRunbookLength     = 2048 // in characters
	maxReasonLength      = 1024 // in characters
)

// withMetadata returns keys and those of the shared block.
func withMetadata(keys ...string) []string { return append(keys, metadataKeys...) }

// metadata reads the shared block of a contract or protocol.
func (l *loader) metadata(m *mapping) Metadata {
	var md Metadata
	if a, ok := m.get("severity"); ok {
		if i, ok := l.choice(a, severityNames); ok {
			md.Severity = severities[i]
		}
	}
	md.Description = l.words(m, "description", maxDescriptionLength, true)
	md.Owner = l.words(m, "owner", maxOwnerLength, false)
	if md.Runbook = l.words(m, "runbook", maxRunbookLength, false); md.Runbook != "" {
		u, err := url.Parse(md.Runbook)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			a, _ := m.get("runbook")
			l.errorf(a, "the runbook is not an absolute URL such as https://example.com/runbooks/refunds")
			u = &url.URL{}
		}
		md.Runbook = u.String() // with what a URL cannot have escaped
	}
	l.acknowledge(m)
	return md
}

// words reads an optional string of human language.
func (l *loader) words(m *mapping, key string, most int, lines bool) string {
	a, ok := m.get(key)
	if !ok {
		return ""
	}
	a, ok = l.text(a)
	if !ok {
		return ""
	}
	s := a.node.Value
	control := func(r rune) bool {
		return r < ' ' && !(lines && (r == '\n' || r == '\t')) || 0x7f <= r && r < 0xa0 || r == '\u2028' || r == '\u2029' || '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069'
	}
	switch i := strings.IndexFunc(s, control); {
	case strings.TrimSpace(s) == "":
		l.errorf(a, "the %s is blank", key)
		return ""
	case utf8.RuneCountInString(s) > most:
		l.errorf(a, "the %s is longer than %d characters", key, most)
		return ""
	case i >= 0 && !lines && s[i] == '\n':
		l.textError(a, &syntaxError{i, fmt.Sprintf("the %s has more than one line", key)})
		return ""
	case i >= 0:
		l.textError(a, &syntaxError{i, fmt.Sprintf("the %s has a control character", key)})
		return ""
	}
	return strings.TrimSpace(s)
}

// acknowledge reads the acknowledged warnings of a contract, a protocol or the
// top level.
func (l *loader) acknowledge(m *mapping) {
	a, ok := m.get("acknowledge")
	if !ok {
		return
	}
	entries, ok := l.list(a, "a list of acknowledgements")
	if !ok {
		return
	}
	for _, e := range entries {
		if m, ok := l.mapping(e, "kind", "reason", "expires", "tools"); ok {
			l.acknowledgement(m, ownerOf(a.path))
		}
	}
}

// acknowledgement reads one acknowledged warning.
func (l *loader) acknowledgement(m *mapping, owner string) {
	before := l.failures
	l.require(m, "kind", "reason")
	ack := Acknowledgement{Reason: l.words(m, "reason", maxReasonLength, false), owner: owner}
	if a, ok := m.get("kind"); ok {
		if n, _ := l.resolve(a); n.node.Value == string(WarnUnusedAcknowledgement) {
			l.errorf(n, "%s cannot be acknowledged; remove the acknowledgement that it reports", WarnUnusedAcknowledgement)
		} else if i, ok := l.choice(a, acknowledgeable); ok {
			ack.Kind = WarningKind(acknowledgeable[i])
		}
		line, column := l.src.clamp(a.node.Line, a.node.Column)
		ack.at = l.diagnostic(Diagnostic{Kind: WarnUnusedAcknowledgement, File: l.src.name, Line: line, Column: column}, a.path)
	}
	if a, ok := m.get("expires"); ok {
		ack.Expires = l.date(a)
	}
	if ack.Tools = l.globs(m, "tools"); len(ack.Tools) > 0 && ack.Kind != "" {
		if info, _, _ := infoOf(ack.Kind); !info.Tools {
			l.errorf(m.key("tools"), "tools limits warnings about a tool; %s is not one", ack.Kind)
		}
	}
	if l.failures == before {
		l.acknowledged = append(l.acknowledged, ack)
	}
}

// acknowledgeable are the kinds that can be acknowledged.
var acknowledgeable = func() (kinds []string) {
	for _, k := range warningKinds {
		if k.Kind != WarnUnusedAcknowledgement {
			kinds = append(kinds, string(k.Kind))
		}
	}
	return kinds
}()

// date reads a day. YAML reads it as a timestamp unless it is in quotes.
func (l *loader) date(a at) time.Time {
	const want = "a date such as 2027-01-31"
	a, ok := l.scalar(a, want, "!!str", "!!timestamp")
	if !ok {
		return time.Time{}
	}
	day, _, _ := strings.Cut(a.node.Value, "T00:00:00Z") // as a parsed date is written out
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		l.errorf(a, "expected %s, found %q", want, clip(a.node.Value))
		return time.Time{}
	}
	return t
}
