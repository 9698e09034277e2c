// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap/confmaptest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

const (
	recording = "../../../testdata/quickstart/support.jsonl"
	policy    = "../policy.yaml"
)

// The quickstart's recording under the quickstart's policy, through the
// processor and the demo's own reading and printing: what `make demo` shows,
// less the collector around it.
func TestQuickstartOutput(t *testing.T) {
	factory := resultsealprocessor.NewFactory()
	cfg := factory.CreateDefaultConfig()
	conf, err := confmaptest.LoadConf("../collector.yaml")
	require.NoError(t, err)
	sub, err := conf.Sub("processors::resultseal")
	require.NoError(t, err)
	sub.Delete("policy_file")
	require.NoError(t, sub.Unmarshal(cfg))
	cfg.(*resultsealprocessor.Config).PolicyFile = policy

	sink := new(consumertest.TracesSink)
	p, err := factory.CreateTraces(context.Background(), processortest.NewNopSettings(component.MustNewType("resultseal")), cfg, sink)
	require.NoError(t, err)
	require.NoError(t, p.Start(context.Background(), componenttest.NewNopHost()))
	requests, sent, err := readRequests(recording)
	require.NoError(t, err)
	for _, request := range requests {
		td, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces(request)
		require.NoError(t, err)
		require.NoError(t, p.ConsumeTraces(context.Background(), td))
	}
	// A trace that the shutdown completed would be inconclusive.
	require.Eventually(t, func() bool { return sink.SpanCount() == sent }, 30*time.Second, 10*time.Millisecond)
	require.NoError(t, p.Shutdown(context.Background()))

	out := filepath.Join(t.TempDir(), "annotated.jsonl")
	var lines bytes.Buffer
	for _, td := range sink.AllTraces() {
		line, err := new(ptrace.JSONMarshaler).MarshalTraces(td)
		require.NoError(t, err)
		lines.Write(append(line, '\n'))
	}
	require.NoError(t, os.WriteFile(out, lines.Bytes(), 0o600))

	v, err := readVerdicts(out)
	require.NoError(t, err)
	require.NoError(t, v.check(sent))
	var got bytes.Buffer
	v.print(&got)
	const golden = "testdata/quickstart.txt"
	if *update {
		require.NoError(t, os.WriteFile(golden, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got.String())
}

func TestMain(m *testing.M) {
	if behaviour := os.Getenv("DEMO_TEST_COLLECTOR"); behaviour != "" {
		fakeCollector(behaviour)
		return
	}
	os.Exit(m.Run())
}

// fakeCollector is what the demo starts in tests instead of a collector: this
// test binary once more.
func fakeCollector(behaviour string) {
	fmt.Println("a line of its log")
	_ = os.WriteFile(pidFile(filepath.Dir(os.Getenv("QUICKSTART_OUT"))), []byte(strconv.Itoa(os.Getpid())), 0o600)
	if behaviour == "exit" {
		os.Exit(3)
	}
	listen := func(env string, handler http.HandlerFunc) {
		l, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv(env))
		if err != nil {
			fmt.Println(err)
			os.Exit(4)
		}
		go func() { _ = http.Serve(l, handler) }()
	}
	interrupted := make(chan os.Signal, 1)
	if behaviour == "ignores interrupts" {
		signal.Ignore(os.Interrupt)
	} else {
		signal.Notify(interrupted, os.Interrupt)
	}
	listen("QUICKSTART_HEALTH_PORT", func(http.ResponseWriter, *http.Request) {})
	listen("QUICKSTART_HTTP_PORT", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch behaviour {
		case "refuses":
			w.WriteHeader(http.StatusBadRequest)
			return
		case "loses":
			return
		}
		out, err := os.OpenFile(os.Getenv("QUICKSTART_OUT"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, _ = out.Write(append(body, '\n'))
			_ = out.Close()
		}
	})
	<-interrupted
}

func pidFile(dir string) string { return filepath.Join(dir, "pid") }

// Whatever goes wrong, the demo says so in time, shows the collector's log,
// and leaves no process behind.
func TestDemoFailsLoudly(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for behaviour, want := range map[string]string{
		"exit":               "the collector exited before the collector is ready: exit status 3",
		"refuses":            "the collector did not take the spans: HTTP 400",
		"loses":              "gave up after 3s",
		"ignores interrupts": "was killed",
		"passes on":          "has no verdict", // spans come out as they went in
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Setenv("DEMO_TEST_COLLECTOR", behaviour)
			dir := t.TempDir()
			timeout := 30 * time.Second
			if behaviour == "loses" {
				timeout = 3 * time.Second
			}
			var stdout, stderr bytes.Buffer
			begin := time.Now()
			err := run(context.Background(), options{
				collector: self, config: "unused", policy: policy, traces: recording,
				out: dir, timeout: timeout, grace: 3 * time.Second, // the race detector takes one to exit
			}, &stdout, &stderr)
			require.ErrorContains(t, err, want)
			require.Less(t, time.Since(begin), timeout+10*time.Second)
			if behaviour != "passes on" {
				require.Contains(t, stderr.String(), "a line of its log")
			}
			text, err := os.ReadFile(pidFile(dir))
			require.NoError(t, err)
			pid, err := strconv.Atoi(string(text))
			require.NoError(t, err)
			child, err := os.FindProcess(pid)
			require.NoError(t, err)
			require.ErrorIs(t, child.Signal(syscall.Signal(0)), os.ErrProcessDone)
		})
	}
	t.Run("no binary", func(t *testing.T) {
		err := run(context.Background(), options{
			collector: "no/such/binary", traces: recording, out: t.TempDir(), timeout: time.Second,
		}, io.Discard, io.Discard)
		require.ErrorContains(t, err, "make dist")
	})
	t.Run("no recording", func(t *testing.T) {
		err := run(context.Background(), options{traces: "no/such/file"}, io.Discard, io.Discard)
		require.ErrorIs(t, err, os.ErrNotExist)
	})
}

// A port that is taken is replaced by another, and no port is chosen twice.
func TestChoosePorts(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	taken := l.Addr().(*net.TCPAddr).Port
	p, err := choosePorts(taken, taken, 0, 0)
	require.NoError(t, err)
	seen := map[int]bool{taken: true, 0: true}
	for _, port := range []int{p.grpc, p.http, p.health, p.metrics} {
		require.False(t, seen[port], "%+v", p)
		seen[port] = true
	}
}

func TestReadRequests(t *testing.T) {
	dir := t.TempDir()
	write := func(content string) string {
		path := filepath.Join(dir, "f.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	const request = `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"a"},{"name":"b"}]}]}]}`
	requests, spans, err := readRequests(write(request + "\n\n" + request + "\n"))
	require.NoError(t, err)
	require.Len(t, requests, 2)
	require.Equal(t, 4, spans)

	_, _, err = readRequests(write(request + "\n" + request[:20]))
	require.ErrorIs(t, err, errPartialLine)
	_, _, err = readRequests(write(request + "\nnot JSON\n"))
	require.ErrorContains(t, err, "f.jsonl:2: not an OTLP request")
	long := strings.Repeat("x", 1<<20)
	_, spans, err = readRequests(write(strings.Replace(request, `"a"`, `"`+long+`"`, 1) + "\n"))
	require.NoError(t, err)
	require.Equal(t, 2, spans)
}
