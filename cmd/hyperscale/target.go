package main

import (
	"fmt"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/target"
)

// beside names what is up beside HTTP.
func beside(s *target.Server) (text string) {
	if url := s.TCP(); url != "" {
		text = ", " + url + " repeats bytes"
	}
	if url := s.UDP(); url != "" {
		text += ", " + url + " repeats datagrams"
	}
	return text
}

func newTargetCommand() *cobra.Command {
	config := target.Default()
	cmd := &cobra.Command{
		Use:   "target",
		Short: "a test server, as fast as its core and as hostile as asked",
		Long: `A test server to try load tests against. Each path answers 200 and a few bytes; also
POST /login, GET /me, /json, /redirect, /cookie, /form, and /digest
for the user "user" with the password "pass". It counts what it serves:
GET /__stats tells, POST /__reset sets to zero; neither is counted. The client
chooses HTTP/1.1 or HTTP/2: by ALPN with --tls, else by what it says first.
With --tcp a second address sends back what it reads, and counts lines as messages.
With --udp another one sends back each datagram, and counts it as a message.`,
		Example: "  hyperscale target --listen 127.0.0.1:8080 --latency 5ms --jitter 2ms\n" +
			"  hyperscale target --error-every 10 --close-every 100 --stall-every 1000 --stall-for 10s\n" +
			"  hyperscale target --tcp 127.0.0.1:7007 --udp 127.0.0.1:7007",
		Args: command.Exactly(),
		RunE: command.Runs(func(cmd *cobra.Command, _ []string) error {
			if err := config.Validate(); err != nil {
				return command.AsUsage(fmt.Errorf("target: %w", err))
			}
			server, err := target.Listen(config)
			if err != nil {
				return command.AsUsage(err)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s is up%s: GET /__stats counts, ctrl-c ends\n", server.URL(), beside(server)); err != nil {
				_ = server.Close() // the write's error says more
				return err
			}
			return server.Serve(ctx)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&config.Listen, "listen", config.Listen, "`address` to listen on; port 0 chooses a free one")
	flags.StringVar(&config.TCP, "tcp", "", "`address` of a listener that repeats what comes over TCP")
	flags.StringVar(&config.UDP, "udp", "", "`address` of a socket that repeats each datagram that comes over UDP")
	command.AddSpan(flags, &config.Latency, "latency", 0, 0, "wait before each answer")
	command.AddSpan(flags, &config.Jitter, "jitter", 0, 0, "vary that by up to this, both ways")
	flags.IntVar(&config.Size, "size", config.Size, "bytes of a body")
	flags.IntVar(&config.ErrorEvery, "error-every", 0, "answer each `N`-th request with 500")
	flags.IntVar(&config.CloseEvery, "close-every", 0, "close the connection at each `N`-th request, unanswered; over HTTP/2 reset its stream")
	flags.IntVar(&config.StallEvery, "stall-every", 0, "stall each `N`-th request")
	command.AddSpan(flags, &config.StallFor, "stall-for", config.StallFor, 0, "for how long")
	flags.BoolVar(&config.TLS, "tls", false, "HTTPS with a certificate made at start")
	return cmd
}
