// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"

	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// Every YAML block of the README is loaded: policies as such, the others as
// what they are, a collector's configuration or part of one.
//
// RESULTSEAL_COLLECTOR names a distribution that is asked as well whether it
// takes the complete ones.
func TestREADMEBlocks(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	t.Setenv("RESULTSEAL_HASH_KEY", "for this test")
	collector := os.Getenv("RESULTSEAL_COLLECTOR")
	policies, configs, processors, complete := 0, 0, 0, 0
	for i, match := range yamlBlock.FindAllStringSubmatch(string(readme), -1) {
		block := match[1]
		if strings.HasPrefix(block, "dist:\n") {
			continue // a manifest of the collector builder, which test/distribution builds
		}
		if name, ok := strings.CutPrefix(strings.SplitN(block, "\n", 2)[0], "# "); ok {
			policies++
			p, err := policy.Load(name, []byte(block))
			require.NoError(t, err)
			require.Empty(t, p.Review(time.Now()).Warnings)
			require.NoError(t, os.WriteFile(name, []byte(block), 0o600))
			continue
		}
		configs++
		file := filepath.Join(t.TempDir(), fmt.Sprintf("block%d.yaml", i))
		require.NoError(t, os.WriteFile(file, []byte(block), 0o600))
		for _, id := range regexp.MustCompile(`(?m)^  (resultseal\S*):$`).FindAllStringSubmatch(block, -1) {
			cfg, err := resolveProcessor(t, file, id[1])
			require.NoError(t, err)
			require.NoError(t, confmap.Validate(cfg))
			processors++
		}
		if collector != "" && strings.Contains(block, "\nservice:") {
			complete++
			out, err := exec.Command(collector, "validate", "--config", file).CombinedOutput()
			require.NoError(t, err, "%s", out)
		}
	}
	require.Equal(t, 2, policies)
	require.GreaterOrEqual(t, configs, 4)
	require.Equal(t, configs+1, processors, "one block has two")
	if collector == "" {
		t.Log("no distribution was asked: RESULTSEAL_COLLECTOR names none")
	} else {
		require.GreaterOrEqual(t, complete, 2)
	}
}

// Every setting has a row in the README with its default.
func TestREADMESettings(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	rows := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_:]+)` \\| (.*?) \\|").FindAllStringSubmatch(string(readme), -1) {
		if _, ok := rows[row[1]]; !ok { // the settings stand before other tables
			rows[row[1]] = row[2]
		}
	}
	var check func(prefix string, v reflect.Value)
	check = func(prefix string, v reflect.Value) {
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if !field.IsExported() {
				continue
			}
			name := prefix + field.Tag.Get("mapstructure")
			row, ok := rows[name]
			require.True(t, ok, "%s is not in the README", name)
			value := v.Field(i)
			if value.Kind() == reflect.Struct {
				check(name+"::", value)
				continue
			}
			want := fmt.Sprintf("`%v`", value.Interface())
			if d, ok := value.Interface().(time.Duration); ok {
				want = "`" + strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m") + "`"
				if d < time.Minute {
					want = "`" + d.String() + "`"
				}
			}
			if value.IsZero() && value.Kind() != reflect.Bool {
				want = "none"
			}
			require.Equal(t, want, row, name)
		}
	}
	check("", reflect.ValueOf(*createDefaultConfig().(*Config)))
}
