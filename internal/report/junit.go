// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// JUnit writes what build servers show as tests: a suite for each agent, and in
// it a test for each protocol and each contracted call of each session, and one
// for each unjudged session. A test fails if its outcome is among those given; any
// other that is not as it should be is skipped, with the reason.
func (r *Report) JUnit(w io.Writer, on FailOn) error {
	suites, err := r.suites(on)
	if err != nil {
		return err
	}
	var all tally
	for _, s := range suites {
		all.tests += s.tests
		all.failures += s.failures
		all.skipped += s.skipped
	}
	out := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintf(out, "%s<testsuites name=\"resultseal\" %s>\n", xml.Header, all.attributes())
	for _, name := range slices.Sorted(maps.Keys(suites)) {
		if err := r.suite(out, name, suites[name], on); err != nil {
			return err
		}
	}
	out.WriteString("</testsuites>\n")
	return out.Flush()
}

// tally counts the tests of a suite.
type tally struct {
	tests, failures, skipped int
	sessions                 []int // indexes
	start                    time.Time
}

func (t *tally) attributes() string {
	return fmt.Sprintf(`tests="%d" failures="%d" errors="0" skipped="%d" time="0"`, t.tests, t.failures, t.skipped)
}

// suites counts the tests, which stand before them.
func (r *Report) suites(on FailOn) (map[string]*tally, error) {
	suites := map[string]*tally{}
	i := -1
	for s, err := range r.Sessions() {
		if i++; err != nil {
			return nil, err
		}
		cases := s.cases(on)
		if len(cases) == 0 {
			continue
		}
		name := s.suite()
		t := suites[name]
		if t == nil {
			t = &tally{start: s.start.Time()}
			suites[name] = t
		}
		t.sessions = append(t.sessions, i)
		t.tests += len(cases)
		for _, c := range cases {
			if c.Failure != nil {
				t.failures++
			}
			if c.Skipped != nil {
				t.skipped++
			}
		}
	}
	return suites, nil
}

// suite names the suite of a session: its agent, or else its service.
func (s *Session) suite() string { return cmp.Or(s.Agent, s.Service, "agent") }

func (r *Report) suite(out *bufio.Writer, name string, t *tally, on FailOn) error {
	fmt.Fprintf(out, "  <testsuite name=\"%s\" %s timestamp=\"%s\">\n", escaped(name), t.attributes(), t.start.Format("2006-01-02T15:04:05"))
	for _, i := range t.sessions {
		s, err := r.session(i)
		if err != nil {
			return err
		}
		for _, c := range s.cases(on) {
			text, err := xml.MarshalIndent(c, "    ", "  ")
			if err != nil {
				return err
			}
			out.Write(text)
			out.WriteByte('\n')
		}
	}
	out.WriteString("  </testsuite>\n")
	return nil
}

// testCase is a test.
type testCase struct {
	XMLName    xml.Name    `xml:"testcase"`
	ClassName  string      `xml:"classname,attr"`
	Name       string      `xml:"name,attr"`
	Time       string      `xml:"time,attr"`
	Properties *properties `xml:"properties,omitempty"`
	Failure    *outcome    `xml:"failure,omitempty"`
	Skipped    *outcome    `xml:"skipped,omitempty"`
}

// properties are what is known of a test besides its outcome.
type properties struct {
	Property []property `xml:"property"`
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// outcome says why a test did not pass.
type outcome struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",innerxml"`
}

// lines is a text whose line ends stay what they are.
func lines(text string) string { return strings.ReplaceAll(escaped(text), "&#xA;", "\n") }

// cases are the tests of a session: the session itself if it is unjudged, its
// protocols, then its calls. Calls without a contract are tests only if they fail.
func (s *Session) cases(on FailOn) []testCase {
	var cases []testCase
	// Build servers make folders of the dots in a class.
	class := strings.ReplaceAll(s.suite(), ".", "_")
	names := map[string]int{}
	add := func(kind, group, name string, f *finding) {
		// Calls that only messages show may have nothing to tell them apart.
		if names[name]++; names[name] > 1 {
			name = fmt.Sprintf("%s (%d)", name, names[name])
		}
		c := testCase{ClassName: class + "." + kind + "." + strings.ReplaceAll(group, ".", "_"), Name: name, Time: "0"}
		c.Properties = s.properties(f)
		switch {
		case f == nil:
		case f.fails:
			c.Failure = &outcome{f.message, f.rule, lines(f.message + "\n" + strings.Join(f.lines, "\n"))}
		default:
			c.Skipped = &outcome{Message: f.message}
		}
		cases = append(cases, c)
	}
	if f := s.finding(on); f != nil {
		add("session", "judged", "session "+s.ID, f)
	}
	for i := range s.Protocols {
		p := &s.Protocols[i]
		add("protocol", p.Name, p.Name+", session "+s.ID, p.finding(s, on))
	}
	call := func(tool, id, span string) string {
		if id != "" {
			tool += " " + id
		}
		return fmt.Sprintf("%s, span %s of session %s", tool, span, s.ID)
	}
	for i := range s.Observations {
		o := &s.Observations[i]
		add("contract", o.Contract, call(o.Tool, o.CallID, o.SpanID), o.finding(s, on))
	}
	for i := range s.Uncontracted {
		u := &s.Uncontracted[i]
		if f := u.finding(s, on); f != nil {
			add("contract", "none", call(u.Tool, u.CallID, u.SpanID), f)
		}
	}
	return cases
}

// properties are the gaps of a session and, of a test that did not pass, the
// metadata of its contract or protocol.
func (s *Session) properties(f *finding) *properties {
	var list []property
	add := func(name, value string) {
		if value != "" {
			list = append(list, property{name, value})
		}
	}
	add("gaps", strings.Join(s.Gaps, " "))
	if f != nil && f.part != nil {
		add("severity", f.part.Severity)
		add("description", f.part.Description)
		add("owner", f.part.Owner)
		add("runbook", f.part.Runbook)
	}
	if list == nil {
		return nil
	}
	return &properties{list}
}

// escaped is a text that stands in quotes.
func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder takes everything
	return b.String()
}
