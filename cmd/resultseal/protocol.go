// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/session"
)

// newProtocolCommand returns the command for protocols written on the command
// line: what is wrong with them, what they look like, and what they say to a
// run.
func newProtocolCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "protocol",
		Short: "Check, draw or run a protocol",
		Args:  cobra.NoArgs, // an unknown subcommand is an error, not a cry for help
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newProtocolCheckCommand(), newProtocolGraphCommand(), newProtocolRunCommand())
	return cmd
}

func newProtocolCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check DSL...",
		Short: "Say how many states a protocol has, and what is wrong or doubtful in it",
		Example: `  resultseal protocol check '!Search.?Results.!Present.?Approval.!Book.?Confirmation.end'
  resultseal protocol check 'rec L.!{read(path as p).L, write(path == p).L, stop}'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			broken := 0
			for i, source := range args {
				name := ""
				if len(args) > 1 {
					name = fmt.Sprintf("protocol %d: ", i+1)
				}
				if err := checkProtocol(cmd.OutOrStdout(), name, source); err != nil {
					fmt.Fprintf(cmd.ErrOrStderr(), "resultseal: %s\n", err)
					broken++
				}
			}
			if broken > 0 {
				return exitCode(2)
			}
			return nil
		},
	}
}

// checkProtocol prints what there is to say about a protocol that is right.
func checkProtocol(w io.Writer, name, source string) error {
	a, warnings, err := compileProtocol(name, source)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%sok: %s, %s, %s\n", name,
		count(a.States(), "state"), count(len(a.Events()), "event"), count(len(a.RegisterNames()), "register"))
	for _, warning := range warnings {
		fmt.Fprintf(w, "%swarning: %s\n", name, warning.Detail())
	}
	return nil
}

// compileProtocol compiles a protocol. The error shows the place.
func compileProtocol(name, source string) (*session.Automaton, []session.Warning, error) {
	p, err := session.Parse(source)
	if err == nil {
		var a *session.Automaton
		var warnings []session.Warning
		if a, warnings, err = session.Compile(p); err == nil {
			return a, warnings, nil
		}
	}
	detail := err.Error()
	var e *session.Error
	if errors.As(err, &e) {
		detail = e.Detail()
	}
	return nil, nil, &failure{engine.CodeSchemaInvalid, errors.New(name + detail)}
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func newProtocolGraphCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "graph DSL",
		Short: "Draw a protocol for Graphviz or Mermaid",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			draw := map[string]func(*session.Automaton) string{
				"dot":     (*session.Automaton).DOT,
				"mermaid": (*session.Automaton).Mermaid,
			}[format]
			if draw == nil {
				return invalidArgument(fmt.Sprintf("--format %q is unknown; use dot or mermaid", format))
			}
			a, _, err := compileProtocol("", args[0])
			if err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), draw(a))
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "dot", "dot or mermaid")
	return cmd
}

func newProtocolRunCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "run DSL",
		Short: "Step events from standard input through a protocol",
		Long: `Step events from standard input through a protocol.

A line is a JSON object {"dir": "send"|"receive", "label": "X", "payload": {...}};
"peek": true asks without stepping. Each is answered at once with a line of its
own. A line that is no such object is an error, and ends the run.`,
		Example: `  echo '{"dir":"send","label":"Book"}' | resultseal protocol run '!Search.?Results.!Book'`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, _, err := compileProtocol("", args[0])
			if err != nil {
				return err
			}
			return runProtocol(cmd.InOrStdin(), cmd.OutOrStdout(), a.NewMonitor())
		},
	}
}

// maxStepLine bounds a line of standard input. It is far above what a payload
// may be, and keeps a stream without line breaks from filling the memory.
const maxStepLine = 64 << 20

// A protocolStep is a line of standard input.
type protocolStep struct {
	Dir     string          `json:"dir"`
	Label   *string         `json:"label"`
	Payload json.RawMessage `json:"payload"`
	Peek    bool            `json:"peek"`
}

// A protocolAnswer is the line that answers it.
type protocolAnswer struct {
	Event     string                   `json:"event"`
	Result    string                   `json:"result"`
	Cause     *string                  `json:"cause"` // null unless it is a violation
	Expected  []string                 `json:"expected"`
	Registers map[string]session.Value `json:"registers"`
	Terminal  bool                     `json:"terminal"`
	Halted    bool                     `json:"halted"`
}

// runProtocol answers each line of r with a line to w.
func runProtocol(r io.Reader, w io.Writer, m *session.Monitor) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxStepLine)
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	n := 0
	for lines.Scan() {
		n++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		answer, err := stepProtocol(m, lines.Bytes())
		if err != nil {
			return invalidInput(fmt.Errorf("standard input:%d: %w", n, err))
		}
		if err := out.Encode(answer); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return invalidInput(fmt.Errorf("standard input:%d: %w", n+1, err))
	}
	return nil
}

// stepProtocol steps or peeks the event of a line.
func stepProtocol(m *session.Monitor, line []byte) (*protocolAnswer, error) {
	var s protocolStep
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		// Not the decoder's own words, which quote the input.
		return nil, errors.New("expected a JSON object with dir, label, payload and peek, and nothing else")
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("expected one object a line")
	}
	var direction session.Direction
	switch s.Dir {
	case "send":
		direction = session.Send
	case "receive":
		direction = session.Receive
	default:
		return nil, errors.New(`dir must be "send" or "receive"`)
	}
	if s.Label == nil {
		return nil, errors.New("label is missing")
	}
	payload, err := stepPayload(string(s.Payload))
	if err != nil {
		return nil, fmt.Errorf("payload: %w", err)
	}
	step := m.Step
	if s.Peek {
		step = m.Peek
	}
	o := step(direction, *s.Label, payload)
	answer := &protocolAnswer{
		Event:     direction.String() + *s.Label,
		Result:    o.Result.String(),
		Expected:  append([]string{}, o.Expected...),
		Registers: map[string]session.Value{},
		Terminal:  m.Terminal(),
		Halted:    m.Halted(),
	}
	if o.Cause != session.NoCause {
		cause := o.Cause.String()
		answer.Cause = &cause
	}
	for _, r := range m.Registers() {
		answer.Registers[r.Name] = r.Value
	}
	return answer, nil
}

// stepPayload reads a payload. One that is no object, or is not there, has no
// fields.
func stepPayload(text string) (session.Payload, error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") {
		return session.ParseFields(text)
	}
	if text == "" {
		return nil, nil
	}
	_, err := session.ParseValue(text)
	return nil, err
}
