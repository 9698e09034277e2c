// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// The tests of this file need nothing installed, and so always run.

type rule struct {
	Alert       string
	Record      string
	Expr        string
	For         string
	Labels      map[string]string
	Annotations map[string]string
}

func rulesOf(t *testing.T, paths []string) []rule {
	t.Helper()
	var out []rule
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var file struct {
			Groups []struct{ Rules []rule }
		}
		require.NoError(t, yaml.Unmarshal(text, &file), path)
		for _, g := range file.Groups {
			out = append(out, g.Rules...)
		}
	}
	require.NotEmpty(t, out)
	return out
}

func alertNames(t *testing.T, paths []string) []string {
	t.Helper()
	var out []string
	for _, r := range rulesOf(t, paths) {
		if r.Alert != "" {
			out = append(out, r.Alert)
		}
	}
	return out
}

const repository = "https://github.com/resultseal/otelcol-resultseal/blob/main/"

// Each alert says how bad it is, what it means and where to read on; the page is
// there and names it, and no page is about nothing.
func TestAlertsHaveRunbooks(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(top, "deploy", "prometheus", "rules", "*.yaml"))
	require.NoError(t, err)
	pages := map[string]bool{"README.md": true}
	index, err := os.ReadFile(filepath.Join(top, "docs", "runbooks", "README.md"))
	require.NoError(t, err)
	for _, r := range rulesOf(t, paths) {
		if r.Alert == "" {
			continue
		}
		require.True(t, strings.HasPrefix(r.Alert, "ResultSeal"), r.Alert)
		// A severity of its own, or that of the policy's protocol.
		require.Contains(t, []string{"critical", "warning", "info", `{{ or $labels.severity "warning" }}`}, r.Labels["severity"], r.Alert)
		for _, annotation := range []string{"summary", "description", "dashboard", "runbook_url"} {
			require.NotEmpty(t, r.Annotations[annotation], "%s has no %s", r.Alert, annotation)
		}
		path, ok := strings.CutPrefix(r.Annotations["runbook_url"], repository)
		require.True(t, ok, r.Alert)
		text, err := os.ReadFile(filepath.Join(top, path))
		require.NoError(t, err, r.Alert)
		require.Contains(t, string(text), r.Alert, path)
		require.Contains(t, string(index), "`"+r.Alert+"`", "the list of runbooks")
		require.Contains(t, string(index), "("+filepath.Base(path)+")", "the list of runbooks")
		pages[filepath.Base(path)] = true
	}
	entries, err := os.ReadDir(filepath.Join(top, "docs", "runbooks"))
	require.NoError(t, err)
	for _, e := range entries {
		require.True(t, pages[e.Name()], "docs/runbooks/%s is no alert's page", e.Name())
	}
}

var dashboardURL = regexp.MustCompile(`^/d/([a-z-]+)`)

func TestAlertsLeadToDashboards(t *testing.T) {
	known := map[string]bool{}
	paths, err := filepath.Glob(filepath.Join(top, "deploy", "grafana", "dashboards", "*.json"))
	require.NoError(t, err)
	for _, path := range paths {
		var b struct {
			UID string `yaml:"uid"`
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, yaml.Unmarshal(text, &b)) // JSON is YAML
		known[b.UID] = true
	}
	rules, err := filepath.Glob(filepath.Join(top, "deploy", "prometheus", "rules", "*.yaml"))
	require.NoError(t, err)
	for _, r := range rulesOf(t, rules) {
		if r.Alert != "" {
			m := dashboardURL.FindStringSubmatch(r.Annotations["dashboard"])
			require.NotNil(t, m, r.Alert)
			require.True(t, known[m[1]], "%s leads to the dashboard %s", r.Alert, m[1])
		}
	}
}

// Alerts are made from recording rules that are there.
func TestRulesUseWhatIsRecorded(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(top, "deploy", "prometheus", "rules", "*.yaml"))
	require.NoError(t, err)
	rules := rulesOf(t, paths)
	recorded := map[string]bool{}
	for _, r := range rules {
		recorded[r.Record] = true
	}
	used := map[string]bool{}
	for _, r := range rules {
		for _, name := range regexp.MustCompile(`resultseal:[a-z0-9_:]+`).FindAllString(r.Expr, -1) {
			require.True(t, recorded[name], "%s%s uses %s", r.Alert, r.Record, name)
			used[name] = true
		}
	}
	for name := range recorded {
		require.True(t, name == "" || used[name], "nothing uses %s", name)
	}
}

// Compose publishes on loopback only, and pins what it runs; what it mounts is
// there.
func TestCompose(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(top, "deploy", "docker-compose.yaml"))
	require.NoError(t, err)
	var file struct {
		Services map[string]struct {
			Image       string
			Ports       []string
			Volumes     []string
			DependsOn   []string          `yaml:"depends_on"`
			Environment map[string]string `yaml:"environment"`
		}
		Volumes map[string]any
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	require.Len(t, file.Services, 5)
	for name, service := range file.Services {
		require.Regexp(t, `:v?\d+\.\d+\.\d+$`, service.Image, name)
		for _, port := range service.Ports {
			require.True(t, strings.HasPrefix(port, "127.0.0.1:"), "%s publishes %s", name, port)
		}
		for _, dependency := range service.DependsOn {
			require.Contains(t, file.Services, dependency, name)
		}
		for _, volume := range service.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			if strings.HasPrefix(source, ".") {
				_, err := os.Stat(filepath.Join(top, "deploy", source))
				require.NoError(t, err, name)
			} else {
				require.Contains(t, file.Volumes, source, name)
			}
		}
	}
	dockerfile, err := os.ReadFile(filepath.Join(top, "deploy", "Dockerfile"))
	require.NoError(t, err)
	require.Regexp(t, `FROM golang:\d+\.\d+\.\d+-`, string(dockerfile))
	for _, m := range regexp.MustCompile(`(?m)^COPY (deploy\S*|examples\S*)`).FindAllStringSubmatch(string(dockerfile), -1) {
		_, err := os.Stat(filepath.Join(top, m[1]))
		require.NoError(t, err)
	}
}

// Every variable that a configuration, the unit or a manifest sets is one that
// the recommended configuration reads.
func TestVariablesAreRead(t *testing.T) {
	read := map[string]bool{}
	reading := regexp.MustCompile(`\$\{env:([A-Z_]+)`)
	paths, err := filepath.Glob(filepath.Join(top, "deploy", "collector", "*.yaml"))
	require.NoError(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, m := range reading.FindAllStringSubmatch(string(text), -1) {
			read[m[1]] = true
		}
	}
	named := regexp.MustCompile(`\bRESULTSEAL_[A-Z_]+`)
	for _, path := range []string{
		"deploy/docker-compose.yaml", "deploy/Dockerfile", "deploy/kubernetes/resultseal.yaml",
		"deploy/systemd/otelcol-resultseal.env", "docs/backends.md",
	} {
		text, err := os.ReadFile(filepath.Join(top, path))
		require.NoError(t, err)
		for _, name := range named.FindAllString(string(text), -1) {
			require.True(t, read[name] || slices.Contains([]string{"RESULTSEAL_SHARED", "RESULTSEAL_JAEGER"}, name), "%s sets %s, which nothing reads", path, name)
		}
	}
}

// The manifest's names belong together: a port that a service or a probe names,
// a label that it selects by, a config map that is mounted.
func TestKubernetesManifest(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(top, "deploy", "kubernetes", "resultseal.yaml"))
	require.NoError(t, err)
	type anything = map[string]any
	kinds := map[string]int{}
	var set struct {
		Kind string
		Spec struct {
			ServiceName string `yaml:"serviceName"`
			Template    struct {
				Metadata struct{ Labels map[string]string }
				Spec     struct {
					Containers []struct {
						Args  []string
						Ports []struct {
							Name          string
							ContainerPort int `yaml:"containerPort"`
						}
						VolumeMounts []struct {
							Name      string
							MountPath string `yaml:"mountPath"`
						} `yaml:"volumeMounts"`
					}
					Volumes []struct{ Name string }
				}
			}
		}
	}
	var documents []anything
	for decoder := yaml.NewDecoder(strings.NewReader(string(text))); ; {
		var node yaml.Node
		if err := decoder.Decode(&node); err != nil {
			break
		}
		var document anything
		require.NoError(t, node.Decode(&document))
		documents = append(documents, document)
		kinds[document["kind"].(string)]++
		if document["kind"] == "StatefulSet" {
			require.NoError(t, node.Decode(&set))
		}
	}
	require.Equal(t, map[string]int{"StatefulSet": 1, "Service": 2, "NetworkPolicy": 1}, kinds)
	container := set.Spec.Template.Spec.Containers[0]
	ports := map[string]bool{}
	for _, p := range container.Ports {
		ports[p.Name] = true
	}
	volumes := map[string]bool{}
	for _, v := range set.Spec.Template.Spec.Volumes {
		volumes[v.Name] = true
	}
	mounted := map[string]bool{}
	for _, m := range container.VolumeMounts {
		require.True(t, volumes[m.Name], m.Name)
		mounted[m.MountPath] = true
	}
	require.True(t, mounted[filepath.Dir(container.Args[1])], "the configuration is not mounted")
	found := false
	for _, document := range documents {
		if document["kind"] != "Service" {
			continue
		}
		spec := document["spec"].(anything)
		for key, value := range spec["selector"].(anything) {
			require.Equal(t, set.Spec.Template.Metadata.Labels[key], value)
		}
		for _, p := range spec["ports"].([]any) {
			require.True(t, ports[p.(anything)["targetPort"].(string)], p)
		}
		found = found || document["metadata"].(anything)["name"] == set.Spec.ServiceName
	}
	require.True(t, found, "there is no service %s", set.Spec.ServiceName)
}
