// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package distribution_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// goodPolicy is what the bad ones are made of. Each replaces one of its texts.
const goodPolicy = `# A policy with a line for each kind of mistake.
contracts:
  - name: customer
    match: {tools: [search_customer, "crm_*"]}
    claim_type: found
    required_fields: [customer_id]
    freshness: {mode: not_required}
    source_ref: crm://customers
    target_ref: "customer:{arguments.id}"
    observation: {target_ref: "customer:{result.customer_id}", payload: $.data}
protocols:
  - name: support
    protocol: "!Search.?Customer.end"
    events:
      - {label: Search, event: tool_call, tools: [search_customer]}
      - {label: Customer, event: tool_result, tools: [search_customer], decision: sealed}
      - {label: Greeting, event: user_message, text: '(?i)hello'}
`

// mistakes are what is wrong with a policy, and the text at which a caret must
// stand.
var mistakes = map[string]struct{ good, bad, at string }{
	"claim type":         {"claim_type: found", "claim_type: fuond", "fuond"},
	"unknown key":        {"required_fields:", "required_feilds:", "required_feilds"},
	"wrong type":         {"required_fields: [customer_id]", "required_fields: customer_id", "customer_id"},
	"glob":               {`"crm_*"`, `"crm_[*"`, `[*"`},
	"template":           {"{arguments.id}", "{argument.id}", "argument.id"},
	"JSONPath":           {"payload: $.data", `payload: "$.data["`, ""},
	"regular expression": {"'(?i)hello'", "'(?i)hel(lo'", ""},
	"protocol":           {"!Search.?Customer.end", "!Search.?Customer.(end)", "(end)"},
	"unbound variable":   {"!Search.?Customer.end", "!Search.?Customer.Again", "Again"},
	"decision":           {"decision: sealed", "decision: saeled", "saeled"},
	"YAML":               {"freshness: {mode: not_required}", "freshness: {mode: not_required", ""},
	"wide characters":    {"# A policy with a line for each kind of mistake.\ncontracts:", "contracts: # é 漢字\n  - {name: \"漢字 é\", claim_type: fuond}", "fuond"},
}

// A collector does not start on a bad policy, and validate refuses it: with the
// place, the line and a caret under what is wrong.
func TestBadPolicy(t *testing.T) {
	distribution(t)
	for name, mistake := range mistakes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, goodPolicy, mistake.good)
			bad := strings.Replace(goodPolicy, mistake.good, mistake.bad, 1)
			dir := t.TempDir()
			path := filepath.Join(dir, "policy.yaml")
			require.NoError(t, os.WriteFile(path, []byte(bad), 0o600))

			for _, source := range []struct{ setting, named string }{
				{policyFile(path), "policy"}, // the collector does not tell which file it was
				{"policy_file: " + path, path},
				{"policy_file: policy.yaml", "policy.yaml"},
			} {
				config := configure(t, dir, settings{Processor: []string{source.setting}}, freePorts(t))
				for _, arguments := range [][]string{{"--config", config}, {"validate", "--config", config}} {
					code, printed := run(t, dir, arguments...)
					require.NotZero(t, code, printed)
					require.NotContains(t, printed, "Everything is ready")
					require.NotContains(t, printed, "goroutine ", "a panic")
					requireShown(t, bad, mistake.at, source.named, printed)
				}
			}
			require.NoFileExists(t, filepath.Join(dir, "output"), "no component was started")
		})
	}
}

// requireShown requires that a message names places of a policy as
// name:line:column, counted in characters, and shows each of these lines with a
// caret at that column. If at is given, it must stand at one of them.
func requireShown(t *testing.T, policy, at, name, printed string) {
	t.Helper()
	lines := strings.Split(printed, "\n")
	places, found := 0, at == ""
	for i, text := range lines {
		var line, column int
		_, place, ok := strings.Cut(text, name)
		if !ok {
			continue
		}
		if n, _ := fmt.Sscanf(place, ":%d:%d:", &line, &column); n != 2 {
			continue
		}
		places++
		require.Less(t, i+2, len(lines), printed)
		source := strings.Split(policy, "\n")[line-1]
		margin, ok := strings.CutSuffix(lines[i+1], source)
		require.True(t, ok, "line %d is not shown under %q:\n%s", line, text, printed)
		require.Equal(t, strings.Repeat(" ", len(margin)+column-1)+"^", lines[i+2], "the caret is not at column %d:\n%s", column, printed)
		found = found || strings.HasPrefix(string([]rune(source)[column-1:]), at)
	}
	require.NotZero(t, places, "no place of %s with a line and a column is named:\n%s", name, printed)
	require.True(t, found, "no place where %q stands is named:\n%s", at, printed)
}

// A good policy passes validate from wherever it is taken, and a wrong setting
// does not.
func TestValidate(t *testing.T) {
	distribution(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "policy.yaml")
	require.NoError(t, os.WriteFile(path, []byte(goodPolicy), 0o600))
	inPlace := []string{"policy:"}
	for line := range strings.Lines(goodPolicy) {
		inPlace = append(inPlace, "  "+strings.TrimRight(line, "\n"))
	}
	for name, tc := range map[string]struct {
		processor []string
		refusal   string
	}{
		"from a file":     {[]string{policyFile(path)}, ""},
		"policy_file":     {[]string{"policy_file: policy.yaml"}, ""},
		"in place":        {inPlace, ""},
		"no policy":       {[]string{"root_delay: 1s"}, "a policy is required"},
		"no such file":    {[]string{"policy_file: policies.yaml"}, "policies.yaml"},
		"unknown setting": {[]string{policyFile(path), "root_dealy: 1s"}, "root_dealy"},
		"wrong setting":   {[]string{policyFile(path), "max_traces: 0"}, "max_traces must be 1 or more"},
		"in place, wrong": {append(inPlace, "  protocol: []"), "protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			config := configure(t, dir, settings{Processor: tc.processor}, freePorts(t))
			code, printed := run(t, dir, "validate", "--config", config)
			if tc.refusal == "" {
				require.Zero(t, code, printed)
				return
			}
			require.NotZero(t, code, printed)
			require.Contains(t, printed, tc.refusal)
		})
	}
}
