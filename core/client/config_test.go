package client_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/client"
	"hyperscale/core/node"
	"hyperscale/core/retry"
)

func TestConfigNamesEveryFault(t *testing.T) {
	var c client.Config
	c.Gates = []node.Addr{"a", "a"}
	err := c.Validate()
	if err == nil {
		t.Fatal("an empty configuration is valid")
	}
	for _, want := range []string{"client.gates", "ask_timeout", "reach_timeout", "retry_min", "ping_silence", "reconnect_min", "commands_max"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
	c = client.Default()
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "--gate") {
		t.Errorf("no gates: got %v, want the flag to use", err)
	}
	c.Gates = []node.Addr{"a"}
	if err := c.Validate(); err != nil {
		t.Errorf("the default is not valid: %v", err)
	}
}

// TestConfigsWithinTheirBoundsAreValid: a configuration within all bounds is valid. With one
// value out of bounds there is one fault, which names the field and its value.
func TestConfigsWithinTheirBoundsAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := func(what string) time.Duration { return time.Duration(rapid.Int64Range(1, 1<<40).Draw(t, what)) }
		legal := client.Config{
			AskTimeout: d("ask timeout"), ReachTimeout: d("reach timeout"), AskRetry: d("ask retry"), RetryMin: d("retry min"), PingInterval: d("ping interval"), ReconnectMin: d("reconnect min"),
			Redirects: rapid.IntRange(1, 9).Draw(t, "redirects"), CommandsMax: rapid.IntRange(1, 9).Draw(t, "commands"), HomesMax: rapid.IntRange(1, 9).Draw(t, "homes"),
			ListMax: rapid.IntRange(1, 9).Draw(t, "list"),
			Retries: retry.Limit{Span: time.Second + d("span"), Asks: rapid.IntRange(1, 9).Draw(t, "asks"), Least: rapid.IntRange(1, 9).Draw(t, "least")},
		}
		some := func() time.Duration { return time.Duration(rapid.IntRange(0, 1).Draw(t, "more")) }
		legal.RetryMax, legal.ReconnectMax, legal.PingSilence = legal.RetryMin+some(), legal.ReconnectMin+some(), legal.PingInterval+1+some()
		for i := range rapid.IntRange(1, 4).Draw(t, "gates") {
			legal.Gates = append(legal.Gates, node.Addr(fmt.Sprint("g", i)))
		}
		legal.GatesMax = len(legal.Gates) + rapid.IntRange(0, 1).Draw(t, "room")
		if err := legal.Validate(); err != nil {
			t.Fatalf("within all bounds, and %v", err)
		}
		bad := time.Duration(rapid.SampledFrom([]int64{0, -1, -1 << 40}).Draw(t, "bad"))
		//lint:orderfree each is judged by itself
		for want, set := range map[string]func(c *client.Config){
			"client.gates is empty":                                        func(c *client.Config) { c.Gates = nil },
			`client.gates: "" is empty`:                                    func(c *client.Config) { c.Gates[0] = "" },
			`client.gates: "g0" is empty or named twice`:                   func(c *client.Config) { c.Gates, c.GatesMax = append(c.Gates, "g0"), 9 },
			fmt.Sprintf("client.ask_timeout = %v must", bad):               func(c *client.Config) { c.AskTimeout = bad },
			fmt.Sprintf("client.reach_timeout = %v must", bad):             func(c *client.Config) { c.ReachTimeout = bad },
			fmt.Sprintf("client.ask_retry = %v must", bad):                 func(c *client.Config) { c.AskRetry = bad },
			fmt.Sprintf("client.retry_min = %v must", bad):                 func(c *client.Config) { c.RetryMin = bad },
			fmt.Sprintf("client.ping_interval = %v must", bad):             func(c *client.Config) { c.PingInterval = bad },
			fmt.Sprintf("client.reconnect_min = %v must", bad):             func(c *client.Config) { c.ReconnectMin = bad },
			fmt.Sprintf("client.ping_silence = %v", legal.PingInterval):    func(c *client.Config) { c.PingSilence = c.PingInterval },
			fmt.Sprintf("client.retry_max = %v", legal.RetryMin-1):         func(c *client.Config) { c.RetryMax = c.RetryMin - 1 },
			fmt.Sprintf("client.reconnect_max = %v", legal.ReconnectMin-1): func(c *client.Config) { c.ReconnectMax = c.ReconnectMin - 1 },
			fmt.Sprintf("client.commands_max = %d", int(bad)):              func(c *client.Config) { c.CommandsMax = int(bad) },
			fmt.Sprintf("client.homes_max = %d", int(bad)):                 func(c *client.Config) { c.HomesMax = int(bad) },
			fmt.Sprintf("client.redirects = %d", int(bad)):                 func(c *client.Config) { c.Redirects = int(bad) },
			fmt.Sprintf("client.list_max = %d", int(bad)):                  func(c *client.Config) { c.ListMax = int(bad) },
			fmt.Sprintf("client.gates_max = %d", len(legal.Gates)-1):       func(c *client.Config) { c.GatesMax = len(c.Gates) - 1 },
		} {
			c := legal
			c.Gates = slices.Clone(legal.Gates)
			set(&c)
			err := c.Validate()
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %v, want %q alone", err, want)
			}
		}
	})
}
