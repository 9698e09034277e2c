// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"gopkg.in/yaml.v3"
)

// recording is an entry of recordings.yaml.
type recording struct {
	Folder      string            // below the folder of its language
	Packages    []string          // the framework and its instrumentations: they name the recording
	Instruments []string          // packages whose instrumentation is started, default: all but the first
	Suffix      string            // ends the name, where versions alone do not tell two recordings apart
	Env         map[string]string // settings
	// Expected replaces, for a tool, the right answers of the scenario. "*" is every tool.
	Expected map[string][]string
	Note     string // why the answers are others than the scenario's
}

// scenario is the right answer for each tool of a recording that holds everything.
var scenario = map[string][]string{
	"search_customer": {"empty EMPTY_WITHOUT_NOT_FOUND_SENTINEL", "sealed SEALED_WITH_REQUIRED_EVIDENCE"},
	"get_order":       {"source_mismatch TARGET_MISMATCH"},
	"send_email":      {"unverified_effect UNVERIFIED_EFFECT"},
	"lookup_stock":    {"sealed SEALED_WITH_REQUIRED_EVIDENCE"},
	"refund":          {"unknown TRANSPORT_FAILED"},
}

func main() {
	langs := flag.String("langs", "python,node", "languages to record, separated by commas")
	only := flag.String("only", "", "record only the entries whose name has this in it")
	verbose := flag.Bool("v", false, "show the output of the frameworks")
	answers := flag.Bool("answers", false, "only write the right answers of the recordings that are there")
	flag.Parse()
	if err := run(strings.Split(*langs, ","), *only, *verbose, *answers); err != nil {
		fmt.Fprintln(os.Stderr, "recordings:", err)
		os.Exit(1)
	}
}

func run(langs []string, only string, verbose, answers bool) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	manifest, err := readManifest(filepath.Join(root, "test", "recordings", "recordings.yaml"))
	if err != nil {
		return err
	}
	var failed error
	for _, lang := range langs {
		l, ok := languages[lang]
		if !ok {
			return fmt.Errorf("unknown language %q: known are %s", lang, strings.Join(slices.Sorted(maps.Keys(languages)), ", "))
		}
		for _, r := range manifest[lang] {
			source := filepath.Join(root, "test", "recordings", lang, r.Folder)
			name, err := l.name(source, r)
			if err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			if !strings.Contains(r.Folder+" "+name, only) {
				continue
			}
			if answers {
				failed = errors.Join(failed, rewriteAnswers(filepath.Join(root, "testdata", "recordings", name), r))
				continue
			}
			e := environment{root: root, source: source, dist: filepath.Join(root, "dist", "recordings", lang, r.Folder)}
			if err := e.record(l, r, name, verbose); err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
			}
		}
	}
	return failed
}

func readManifest(file string) (manifest map[string][]recording, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	return manifest, decoder.Decode(&manifest)
}

// language says how the packages of a language are installed and run.
type language struct {
	version func(source, name string) (string, error) // of a package, as pinned
	install func(e environment) error
	command func(e environment) *exec.Cmd
}

// name is a recording's name: its packages with their versions.
func (l language) name(source string, r recording) (string, error) {
	var parts []string
	for _, p := range r.Packages {
		v, err := l.version(source, p)
		if err != nil {
			return "", err
		}
		parts = append(parts, strings.NewReplacer("@", "", "/", "-", ":", "-").Replace(p)+"-"+v)
	}
	if r.Suffix != "" {
		parts = append(parts, r.Suffix)
	}
	return strings.Join(parts, "+"), nil
}

// environment is where a framework is installed and runs.
type environment struct{ root, source, dist string }

func (e environment) record(l language, r recording, name string, verbose bool) error {
	if err := l.install(e); err != nil {
		return err
	}
	s, err := newServer()
	if err != nil {
		return err
	}
	defer s.close()
	home := e.dist + ".home"
	if err := os.RemoveAll(home); err != nil {
		return err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	instruments := r.Instruments
	if instruments == nil {
		instruments = r.Packages[1:]
	}
	url := fmt.Sprintf("http://127.0.0.1:%d", s.port)
	cmd := l.command(e)
	cmd.Dir = e.source
	cmd.Env = append(cmd.Env,
		"PATH="+os.Getenv("PATH"), "HOME="+home, "LANG=C.UTF-8", "TZ=UTC", "JAVA_HOME="+os.Getenv("JAVA_HOME"),
		// Whatever a framework would send elsewhere is refused.
		"HTTPS_PROXY=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
		"MODEL_URL="+url, "RECORD_INSTRUMENTS="+strings.Join(instruments, ","),
		"OPENAI_BASE_URL="+url+"/v1", "OPENAI_API_BASE="+url+"/v1", "OPENAI_API_KEY=test",
		"ANTHROPIC_BASE_URL="+url, "ANTHROPIC_API_KEY=test",
		"GOOGLE_GEMINI_BASE_URL="+url, "GEMINI_API_KEY=test", "GOOGLE_API_KEY=test",
		"AWS_ENDPOINT_URL_BEDROCK_RUNTIME="+url, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_REGION=us-east-1", "AWS_DEFAULT_REGION=us-east-1",
		"OTEL_EXPORTER_OTLP_ENDPOINT="+url, "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf", "OTEL_SERVICE_NAME=support-agent",
	)
	for _, key := range slices.Sorted(maps.Keys(r.Env)) {
		cmd.Env = append(cmd.Env, key+"="+strings.ReplaceAll(r.Env[key], "$MODEL_URL", url))
	}
	began := time.Now()
	output, err := runFor(cmd, 3*time.Minute)
	took := time.Since(began).Round(100 * time.Millisecond)
	if verbose || err != nil {
		fmt.Fprintf(os.Stderr, "%s\n", output)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if verbose && len(s.unknown) > 0 {
		fmt.Fprintln(os.Stderr, "not served:", s.unknown)
	}
	if s.failed != nil {
		return s.failed
	}
	return e.write(r, name, s, took)
}

// runFor runs a command and ends it after a while.
func runFor(cmd *exec.Cmd, limit time.Duration) ([]byte, error) {
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Wait()
	if ctx.Err() != nil {
		err = fmt.Errorf("not done after %v", limit)
	}
	return output.Bytes(), err
}

func (e environment) write(r recording, name string, s *server, took time.Duration) error {
	if s.traces.SpanCount() == 0 && s.logs.LogRecordCount() == 0 {
		return errors.New("nothing was recorded")
	}
	n := newNormalizer(s.port, e.root, e.dist, e.source)
	n.collectTimes(s.traces, s.logs)
	spans, logs := s.traces.SpanCount(), s.logs.LogRecordCount()
	var lines bytes.Buffer
	for _, td := range n.normalizeTraces(s.traces) {
		line, err := (&ptrace.JSONMarshaler{}).MarshalTraces(td)
		if err != nil {
			return err
		}
		lines.Write(line)
		lines.WriteByte('\n')
	}
	folder := filepath.Join(e.root, "testdata", "recordings")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	file := filepath.Join(folder, name)
	if err := writeGzip(file+".jsonl.gz", lines.Bytes()); err != nil {
		return err
	}
	if logs > 0 {
		line, err := (&plog.JSONMarshaler{}).MarshalLogs(n.normalizeLogs(s.logs))
		if err != nil {
			return err
		}
		if err := writeGzip(file+".logs.jsonl.gz", append(line, '\n')); err != nil {
			return err
		}
	}
	fmt.Printf("%s: %d spans, %d log records, %d bytes, %v\n", name, spans, logs, lines.Len(), took)
	return writeExpected(file+".expected.json", r)
}

// rewriteAnswers writes the right answers of a recording, if it is there.
func rewriteAnswers(file string, r recording) error {
	if _, err := os.Stat(file + ".jsonl.gz"); err != nil {
		return fmt.Errorf("not recorded yet: %w", err)
	}
	return writeExpected(file+".expected.json", r)
}

// writeExpected writes the right answers for a recording.
func writeExpected(file string, r recording) error {
	right := map[string][]string{}
	for tool, states := range scenario {
		if all, ok := r.Expected["*"]; ok {
			states = all
			if tool == "search_customer" {
				states = slices.Concat(all, all) // it is called twice
			}
		}
		if own, ok := r.Expected[tool]; ok {
			states = own
		}
		if len(states) > 0 {
			right[tool] = states
		}
	}
	for tool, states := range r.Expected {
		if _, ok := scenario[tool]; !ok && tool != "*" {
			right[tool] = states // a tool of the framework
		}
	}
	text, err := json.MarshalIndent(struct {
		Note         string              `json:"note,omitempty"`
		Observations map[string][]string `json:"observations"`
	}{r.Note, right}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

func writeGzip(file string, content []byte) error {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(content); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}

func newNormalizer(port int, root, dist, source string) *normalizer {
	host, _ := os.Hostname()
	pairs := []string{
		fmt.Sprintf("127.0.0.1:%d", port), "127.0.0.1:8080", fmt.Sprintf("localhost:%d", port), "127.0.0.1:8080",
		dist, "/env", source, "/app", root, "/src",
	}
	if len(host) > 3 {
		pairs = append(pairs, host, "host")
	}
	return &normalizer{
		replace: strings.NewReplacer(pairs...), port: port,
		ids: map[string]string{}, times: map[pcommon.Timestamp]pcommon.Timestamp{},
	}
}

var languages = map[string]language{
	"python": {version: pythonVersion, install: installPython, command: func(e environment) *exec.Cmd {
		cmd := exec.Command(filepath.Join(e.dist, "bin", "python"), "run.py") //nolint:gosec // the framework's environment
		cmd.Env = []string{"PYTHONPATH=" + filepath.Dir(e.source), "PYTHONHASHSEED=0", "PYTHONPYCACHEPREFIX=" + filepath.Join(e.root, "dist", "recordings", "pycache")}
		return cmd
	}},
	"node": {version: nodeVersion, install: installNode, command: func(e environment) *exec.Cmd {
		return exec.Command("node", filepath.Join(e.dist, "run.mjs")) //nolint:gosec // the framework's environment
	}},
}

func nodeVersion(source, name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(source, "package.json"))
	if err != nil {
		return "", err
	}
	var file struct{ Dependencies map[string]string }
	if err := json.Unmarshal(text, &file); err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Join(source, "package.json"), err)
	}
	if file.Dependencies[name] == "" {
		return "", fmt.Errorf("%s is not pinned in %s", name, filepath.Join(source, "package.json"))
	}
	return file.Dependencies[name], nil
}

// installNode installs the pinned packages, unless they are there, and copies the script
// beside them, since modules are resolved from its place.
func installNode(e environment) error {
	if err := os.MkdirAll(e.dist, 0o755); err != nil {
		return err
	}
	pins, err := os.ReadFile(filepath.Join(e.source, "package.json"))
	if err != nil {
		return err
	}
	for _, file := range []string{filepath.Join(e.source, "run.mjs"), filepath.Join(filepath.Dir(e.source), "scenario.mjs")} {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(e.dist, filepath.Base(file)), text, 0o600); err != nil {
			return err
		}
	}
	stamp := filepath.Join(e.dist, "installed.json")
	if there, err := os.ReadFile(stamp); err == nil && bytes.Equal(there, pins) {
		return nil
	}
	if err := os.WriteFile(filepath.Join(e.dist, "package.json"), pins, 0o600); err != nil {
		return err
	}
	install := exec.Command("npm", "install", "--silent", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
	install.Dir = e.dist
	if output, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("npm install: %w\n%s", err, output)
	}
	return os.WriteFile(stamp, pins, 0o600)
}

func pythonVersion(source, name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(source, "requirements.txt"))
	if err != nil {
		return "", err
	}
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `==(\S+)`).FindSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("%s is not pinned in %s", name, filepath.Join(source, "requirements.txt"))
	}
	return string(m[1]), nil
}

// installPython makes a virtual environment of the pinned packages, unless it is there.
func installPython(e environment) error {
	pins, err := os.ReadFile(filepath.Join(e.source, "requirements.txt"))
	if err != nil {
		return err
	}
	stamp := filepath.Join(e.dist, "requirements.txt")
	if there, err := os.ReadFile(stamp); err == nil && bytes.Equal(there, pins) {
		return nil
	}
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	for _, command := range [][]string{
		{python, "-m", "venv", "--clear", e.dist},
		{filepath.Join(e.dist, "bin", "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--prefer-binary", "--no-deps", "-r", filepath.Join(e.source, "requirements.txt")},
	} {
		if output, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil { //nolint:gosec // as given
			return fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, output)
		}
	}
	return os.WriteFile(stamp, pins, 0o600)
}
