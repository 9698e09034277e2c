// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/websocket"
)

// browser is a real one, driven over its debugging protocol.
type browser struct {
	t    *testing.T
	conn *websocket.Conn

	mu       sync.Mutex
	next     int
	answers  map[int]chan json.RawMessage
	problems []string // what the console or the page complained of
	requests []string // what the page asked for
	loaded   chan struct{}
}

// openBrowser starts a browser without a window, and skips the test where none is
// installed.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no Chromium is installed, so the page is not looked at in one")
	}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions", "--hide-scrollbars",
		"--remote-debugging-port=0", "--remote-allow-origins=*", "--user-data-dir="+dir, "--window-size=1300,1000", "about:blank")
	cmd.WaitDelay = 5 * time.Second
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it is killed
		// Its children may still write their last.
		for range 50 {
			if os.RemoveAll(dir) == nil {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	var port string
	deadline := time.Now().Add(60 * time.Second)
	for port == "" {
		require.True(t, time.Now().Before(deadline), "the browser does not start")
		text, _ := os.ReadFile(filepath.Join(dir, "DevToolsActivePort"))
		if lines := strings.Split(string(text), "\n"); len(lines) > 1 {
			port = lines[0]
		}
		time.Sleep(50 * time.Millisecond)
	}
	var targets []struct {
		Type string
		URL  string `json:"webSocketDebuggerUrl"`
	}
	for len(targets) == 0 {
		require.True(t, time.Now().Before(deadline), "the browser has no page")
		if response, err := http.Get("http://127.0.0.1:" + port + "/json/list"); err == nil {
			_ = json.NewDecoder(response.Body).Decode(&targets)
			response.Body.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	conn, err := websocket.Dial(targets[0].URL, "", "http://127.0.0.1/")
	require.NoError(t, err)
	conn.MaxPayloadBytes = 64 << 20
	t.Cleanup(func() { conn.Close() })
	b := &browser{t: t, conn: conn, answers: map[int]chan json.RawMessage{}, loaded: make(chan struct{}, 16)}
	go b.listen()
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil)
	}
	return b
}

// listen sorts what the browser says.
func (b *browser) listen() {
	for {
		var message struct {
			ID     int
			Method string
			Params json.RawMessage
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := websocket.JSON.Receive(b.conn, &message); err != nil {
			return
		}
		b.mu.Lock()
		switch {
		case message.ID > 0:
			answer := message.Result
			if message.Error != nil {
				answer = json.RawMessage(`{"failed":` + string(message.Error) + `}`)
			}
			b.answers[message.ID] <- answer
		case message.Method == "Page.loadEventFired":
			b.loaded <- struct{}{}
		case message.Method == "Runtime.exceptionThrown", message.Method == "Log.entryAdded", message.Method == "Runtime.consoleAPICalled":
			b.problems = append(b.problems, string(message.Params))
		case message.Method == "Network.requestWillBeSent":
			var request struct{ Request struct{ URL string } }
			_ = json.Unmarshal(message.Params, &request)
			b.requests = append(b.requests, request.Request.URL)
		}
		b.mu.Unlock()
	}
}

// call asks the browser for something.
func (b *browser) call(method string, params any) json.RawMessage {
	b.t.Helper()
	b.mu.Lock()
	b.next++
	id := b.next
	answer := make(chan json.RawMessage, 1)
	b.answers[id] = answer
	b.mu.Unlock()
	if params == nil {
		params = map[string]any{}
	}
	require.NoError(b.t, websocket.JSON.Send(b.conn, map[string]any{"id": id, "method": method, "params": params}))
	select {
	case text := <-answer:
		require.NotContains(b.t, string(text), `{"failed":`, method)
		return text
	case <-time.After(30 * time.Second):
		require.Fail(b.t, "the browser does not answer", method)
		return nil
	}
}

// open loads a page.
func (b *browser) open(file, hash string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": "about:blank"})
	<-b.loaded
	b.call("Page.navigate", map[string]any{"url": "file://" + file + hash})
	select {
	case <-b.loaded:
	case <-time.After(30 * time.Second):
		require.Fail(b.t, "the page does not load")
	}
}

// eval evaluates an expression, and reads its value.
func (b *browser) eval(expression string, into any) {
	b.t.Helper()
	var answer struct {
		Result struct {
			Value json.RawMessage
		}
		ExceptionDetails json.RawMessage
	}
	require.NoError(b.t, json.Unmarshal(b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}), &answer))
	require.Empty(b.t, string(answer.ExceptionDetails), expression)
	if into != nil {
		require.NoError(b.t, json.Unmarshal(answer.Result.Value, into), expression)
	}
}

// text evaluates an expression whose value is a text.
func (b *browser) text(expression string) string {
	b.t.Helper()
	var s string
	b.eval(expression, &s)
	return s
}

// number evaluates an expression whose value is a number.
func (b *browser) number(expression string) int {
	b.t.Helper()
	var n int
	b.eval(expression, &n)
	return n
}

// click clicks with a real mouse on the middle of an element.
func (b *browser) click(selector string) {
	b.t.Helper()
	var at struct{ X, Y float64 }
	b.eval(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return {X: r.x + r.width / 2, Y: r.y + r.height / 2}; })()`, selector), &at)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1})
	}
}

// press presses a key; named ones are those of the keyboard events.
func (b *browser) press(key string) {
	b.t.Helper()
	codes := map[string]int{"Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40, "Tab": 9}
	down := map[string]any{"type": "keyDown", "key": key}
	if code, ok := codes[key]; ok {
		down["windowsVirtualKeyCode"] = code
		if key == "Enter" {
			down["text"] = "\r"
		}
	} else {
		down["text"] = key
	}
	b.call("Input.dispatchKeyEvent", down)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key})
}

// screenshot writes what is seen to a file.
func (b *browser) screenshot(file string) {
	b.t.Helper()
	var answer struct{ Data string }
	require.NoError(b.t, json.Unmarshal(b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}), &answer))
	data, err := base64.StdEncoding.DecodeString(answer.Data)
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(file, data, 0o600))
}

// quiet requires that nothing was complained of and nothing was asked for but the
// page itself.
func (b *browser) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(b.t, b.problems)
	for _, url := range b.requests {
		require.True(b.t, strings.HasPrefix(url, "file://") || url == "about:blank", url)
	}
}
