// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"github.com/resultseal/otelcol-resultseal/internal/display"
	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

func newValidateCommand() *cobra.Command {
	var o validateOptions
	cmd := &cobra.Command{
		Use:   "validate PATH... [--against TRACES...]",
		Short: "Check contracts, fixtures, policies and dialects",
		Long: `Check contracts, fixtures, policies and files of dialects. The kind of a file is
detected from its keys.

A PATH is a file, or a directory of .yaml, .yml and .json files, of which those
with none of the keys are passed over. What is wrong is
told as file:line:column with the line and a caret; what is legal and probably
not meant is a warning. The exit status is 0 if all files are valid, 1 if there is a
warning and --fail-on-warnings, 2 if a file is not valid, 3 if one is unsafe to
process.

With --against, the first PATH is a policy and all others are recorded traces, as
score takes them. What of the policy they never touched is told: contracts that are
for no call, templates that find nothing, event rules that name nothing, tools
without a contract or event rule. These are warnings, too.

Warnings of a policy are shown by kind, the most serious first, and repeated ones
folded. Those that the policy acknowledges are counted and not shown.`,
		Example: `  resultseal validate policy.yaml contracts/
  resultseal validate policy.yaml --against runs/*.jsonl`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			now, err := o.now.clock()
			if err != nil {
				return err
			}
			if len(o.against) > 0 {
				return validateAgainst(cmd, args[0], append(o.against, args[1:]...), now, &o)
			}
			files, err := documentFiles(args)
			if err != nil {
				return err
			}
			worst, warnings := 0, 0
			for _, name := range files {
				code, n, err := validate(cmd, name, now, slices.Contains(args, name))
				if err != nil {
					return err
				}
				worst, warnings = max(worst, code), warnings+n
			}
			return o.exit(worst, warnings)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.against, "against", nil, "recorded traces: tell what of the policy they never touch")
	f.Var(&o.now, "now", "the time at which acknowledged warnings may have expired, in ISO 8601, UTC without an offset (default: now)")
	f.BoolVar(&o.failOnWarnings, "fail-on-warnings", false, "exit 1 if there is a warning")
	o.input.register(cmd)
	return cmd
}

type validateOptions struct {
	against        []string
	failOnWarnings bool
	now            clockFlag
	input          inputOptions
}

// exit returns the exit status: that of the worst file, or 1 if all files are valid,
// there are warnings and they fail.
func (o *validateOptions) exit(worst, warnings int) error {
	if worst == 0 && warnings > 0 && o.failOnWarnings {
		worst = 1
	}
	if worst == 0 {
		return nil
	}
	return exitCode(worst)
}

// validate checks a file, tells on standard error what is wrong with it and on
// standard output that nothing is, and returns the exit status and the number of
// warnings. A file that was not named itself is passed over if it is something else.
func validate(cmd *cobra.Command, name string, now time.Time, named bool) (code, warned int, err error) {
	file, err := readDocumentFile(name)
	if err != nil {
		return 0, 0, err
	}
	kind, sure := file.kind()
	if !sure && !named {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: passed over: neither a contract, nor a fixture, nor a policy, nor dialects\n", display.Line(name))
		return 0, 0, nil
	}
	note := ""
	switch kind {
	case policyFile:
		p, err := policy.Load(name, file.text)
		if err != nil {
			fmt.Fprintln(cmd.ErrOrStderr(), err)
			return 2, 0, nil
		}
		review := p.Review(now)
		writeReview(cmd, &review)
		note = acknowledged(&review)
		warned = len(review.Warnings)
	case dialectsFile:
		var faults genai.Faults
		if _, err := genai.ReadOptions(file.text); errors.As(err, &faults) {
			fmt.Fprintln(cmd.ErrOrStderr(), tellFaults(file, faults))
			return 2, 0, nil
		}
	default:
		warnings, err := file.check(kind, sure)
		if err != nil {
			fmt.Fprintln(cmd.ErrOrStderr(), file.locate(err))
			return err.Exit(), 0, nil
		}
		warned = len(warnings)
		for _, w := range warnings {
			fmt.Fprintln(cmd.ErrOrStderr(), file.tell(fmt.Sprintf("warning [%s]", w.kind), w.path, w.message))
		}
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: valid (%s)%s\n", display.Line(name), kind, note)
	return 0, warned, err
}

// tellFaults reports what is wrong with a file of dialects, each with its place, the
// line and a caret.
func tellFaults(file *documentFile, faults genai.Faults) string {
	lines := make([]string, len(faults))
	for i := range faults {
		f := &faults[i]
		if f.Line == 0 {
			lines[i] = display.Line(file.name) + ": " + f.String()
			continue
		}
		lines[i] = file.at(f.Line, f.Column, f.String())
	}
	return strings.Join(lines, "\n")
}

// writeReview writes the warnings of a policy to standard error, folded.
func writeReview(cmd *cobra.Command, r *policy.Review) {
	for _, g := range r.Groups() {
		fmt.Fprintln(cmd.ErrOrStderr(), g)
	}
}

// acknowledged returns how many warnings are not shown, as the end of a line; ""
// if all are.
func acknowledged(r *policy.Review) string {
	if r.Acknowledged == 0 {
		return ""
	}
	return ", " + count(r.Acknowledged, "warning") + " acknowledged"
}

// readDocumentFile reads a file.
func readDocumentFile(name string) (*documentFile, error) {
	text, err := readText(name)
	if err != nil {
		return nil, readFailure(err)
	}
	return &documentFile{name: name, text: text}, nil
}

type fileKind string

const (
	contractFile fileKind = "contract"
	fixtureFile  fileKind = "fixture"
	policyFile   fileKind = "policy"
	dialectsFile fileKind = "dialects"
)

// documentFile is a contract or a fixture with its text, in which places are
// looked up.
type documentFile struct {
	name string
	text []byte
	root *yaml.Node // nil if places in the text are not known
}

// dialectsKey is a key that only a file of dialects starts a line with.
var dialectsKey = regexp.MustCompile(`(?m)^(?:dialects|custom|conversation_attributes|conversation_resource_attributes)[ \t]*:`)

// policyKey is a key that only a policy file starts a line with.
var policyKey = regexp.MustCompile(`(?m)^(?:contracts|protocols|acknowledge)[ \t]*:`)

// kind detects the kind of a file by its keys. A file without any of them, or one
// that cannot be read, is a contract that is not sure to be one.
func (f *documentFile) kind() (kind fileKind, sure bool) {
	if f.root = f.readNodes(); f.root == nil && policyKey.Match(f.text) {
		return policyFile, true
	}
	if f.root == nil && dialectsKey.Match(f.text) {
		return dialectsFile, true
	}
	keys, ok := f.keys()
	if !ok {
		return contractFile, len(bytes.TrimSpace(f.text)) > 0
	}
	for _, key := range keys {
		switch key {
		case "fixture_version", "expected":
			return fixtureFile, true
		case "contracts", "protocols", "acknowledge":
			return policyFile, true
		case "dialects", "custom", "conversation_attributes", "conversation_resource_attributes":
			return dialectsFile, true
		case "schema_version", "claim_type", "required_fields", "freshness":
			sure = true
		}
	}
	return contractFile, sure
}

// readNodes returns the text's values with their places. It is nil for a text that
// neither the reader of its own format nor that of the other can read.
func (f *documentFile) readNodes() *yaml.Node {
	if formatOf(f.name) == engine.FormatJSON {
		if root := jsonNodes(f.text); root != nil {
			return root
		}
	}
	var doc yaml.Node
	if yaml.Unmarshal(f.text, &doc) != nil || len(doc.Content) == 0 {
		return nil
	}
	return doc.Content[0]
}

// keys returns the keys of the root object; none if the root is not an object. ok is
// false if the document cannot be parsed.
func (f *documentFile) keys() (keys []string, ok bool) {
	if f.root != nil {
		for i := 0; f.root.Kind == yaml.MappingNode && i+1 < len(f.root.Content); i += 2 {
			keys = append(keys, f.root.Content[i].Value)
		}
		return keys, true
	}
	v, err := engine.ParseDocument(f.text, formatOf(f.name))
	if err != nil || v.Kind() != jsonvalue.ObjectKind {
		return nil, err == nil
	}
	for i := range v.Len() {
		key, _ := v.Member(i)
		keys = append(keys, key)
	}
	return keys, true
}

// check reads a contract or a fixture.
func (f *documentFile) check(kind fileKind, sure bool) ([]advice, *engine.Error) {
	v, err := engine.ParseDocument(f.text, formatOf(f.name))
	if err != nil {
		return nil, coded(err)
	}
	if !sure {
		return nil, &engine.Error{Code: engine.CodeSchemaInvalid, Message: "the document is neither a contract, nor a fixture, nor a policy, nor dialects", Offset: -1}
	}
	if kind == contractFile {
		c, err := engine.DecodeContract(v)
		if err != nil {
			return nil, coded(err)
		}
		return adviseContract(c, ""), nil
	}
	fixture, err := engine.DecodeFixture(v)
	if err != nil {
		return nil, coded(err)
	}
	if c := fixture.Contract(); c != nil && fixture.Expected.Decision != engine.Rejected {
		return adviseContract(c, "contract."), nil
	}
	return nil, nil
}

func coded(err error) *engine.Error {
	var e *engine.Error
	if errors.As(err, &e) {
		return e
	}
	return &engine.Error{Code: engine.CodeSchemaInvalid, Message: err.Error(), Offset: -1}
}

// advice is a warning about a contract.
type advice struct {
	kind          policy.WarningKind
	path, message string
}

// adviseContract warns of claims that always hold, or never.
func adviseContract(c *engine.Contract, prefix string) []advice {
	var all []advice
	add := func(kind policy.WarningKind, path, message string) {
		all = append(all, advice{kind, prefix + path, message})
	}
	effect := c.ClaimType == engine.ClaimEffectObserved || c.ClaimType == engine.ClaimTaskComplete
	switch {
	case c.ClaimType == engine.ClaimNotFound:
		if c.NotFoundSentinel == nil {
			add(policy.WarnAlwaysBlocked, "claim_type", "a not_found claim without a not_found_sentinel is always blocked")
		}
	case len(c.RequiredFields) == 0 && !(effect && c.EffectEvidenceRequired):
		add(policy.WarnNoRequiredFields, "required_fields", "a positive claim without required fields is sealed by any answer, an apology too")
	}
	if effect && !c.EffectEvidenceRequired {
		add(policy.WarnNoEvidence, "claim_type", "an effect without effect_evidence_required is sealed on the word of the answer that claims it")
	}
	if !effect && c.EffectEvidenceRequired {
		add(policy.WarnUnusedSetting, "effect_evidence_required", "evidence matters only to the claims effect_observed and task_complete")
	}
	if c.MinSourceVersion != nil && c.Freshness.Mode != engine.FreshnessSourceVersion {
		add(policy.WarnUnusedSetting, "min_source_version", "a version matters only to the freshness mode source_version")
	}
	return all
}

// locate tells an error with its place.
func (f *documentFile) locate(e *engine.Error) string {
	if e.Offset >= 0 {
		head := string(f.text[:min(e.Offset, len(f.text))])
		line := 1 + strings.Count(head, "\n")
		head = head[strings.LastIndex(head, "\n")+1:]
		return f.at(line, 1+len([]rune(head)), string(e.Code)+": "+e.Message)
	}
	return f.tell(string(e.Code), e.Path, e.Message)
}

// tell tells something about the value at a path.
func (f *documentFile) tell(what, path, message string) string {
	if path != "" {
		message = path + ": " + message
	}
	message = what + ": " + message
	line, column := f.place(path)
	if line == 0 {
		return display.Line(f.name) + ": " + message
	}
	return f.at(line, column, message)
}

// place returns the line and column of the value at a path, or of what should
// have it; 0 if the text cannot be read as YAML.
func (f *documentFile) place(path string) (line, column int) {
	n := f.root
	if n == nil {
		return 0, 0
	}
	for _, step := range steps(path) {
		next := child(n, step)
		if next == nil {
			break
		}
		n = next
	}
	return n.Line, n.Column
}

// steps splits a.b[0] into a, b and 0.
func steps(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

// child returns an element of a list, or the value of a key.
func child(n *yaml.Node, step string) *yaml.Node {
	switch n.Kind {
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i < len(n.Content) {
			return n.Content[i]
		}
	case yaml.MappingNode:
		for i := len(n.Content) - 2; i >= 0; i -= 2 { // of equal keys the last counts
			if n.Content[i].Value == step {
				return n.Content[i+1]
			}
		}
	}
	return nil
}

// at tells something about a line and column, with an excerpt.
func (f *documentFile) at(line, column int, message string) string {
	place := fmt.Sprintf("%s:%d:%d: %s", display.Line(f.name), line, column, message)
	if excerpt := f.excerpt(line, column); excerpt != "" {
		place += "\n" + excerpt
	}
	return place
}

// excerpt returns a line and, below it, a caret; "" if there is no such line.
func (f *documentFile) excerpt(line, column int) string {
	lines := strings.Split(string(f.text), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	text := []rune(strings.TrimRight(lines[line-1], "\r"))
	column = min(column, len(text)+1)
	const around = 60 // of a long line only a part is shown
	from := max(0, column-1-around)
	shown := text[from:min(len(text), column-1+around)]
	caret := slices.Clone(text[from : column-1])
	for i, r := range caret {
		if r != '\t' {
			caret[i] = ' '
		}
	}
	return "  " + display.Lines(string(shown)) + "\n  " + string(caret) + "^"
}
