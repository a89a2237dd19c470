package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/language"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/ping"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/redact"
	"hyperscale/runtime/resolve"
)

// serversMost bounds the servers that one program asks for their descriptors.
const serversMost = 16

// reflected loads a program by load, and adds the descriptors that its servers tell: each load finds the next
// server. From then on they are files of the program, so that all of its processes have the same.
func (f *Flags) reflected(program *message.Program, load func() error) error {
	for range serversMost {
		err := load()
		var missing *workflow.Unreflected
		if !errors.As(err, &missing) {
			return err
		}
		if err := f.reflect(program, missing); err != nil {
			return err
		}
	}
	return load()
}

// reflect asks a server, and adds what it tells as a file.
func (f *Flags) reflect(program *message.Program, missing *workflow.Unreflected) error {
	given, err := f.secrets.values(missing.Secrets())
	if err != nil {
		return err
	}
	if err := missing.Reveal(given); err != nil {
		return err
	}
	ask := &missing.Ask
	options, err := pool.TLSConfig(&ask.TLS, ask.Insecure)
	if err != nil {
		return err
	}
	cfg := ping.Config{
		Request: http1.Request{Method: "POST", URL: "http" + strings.TrimPrefix(ask.URL, "grpc") + "/"}, HTTP: ping.HTTP2, TLS: options, Insecure: ask.Insecure,
		GRPC: &ping.Called{Descriptors: true, Services: ask.Services, Reflection: true}, Timeout: ask.Timeout, Resolver: resolve.NewResolver(),
	}
	for _, h := range ask.Metadata {
		cfg.Request.Headers = append(cfg.Request.Headers, http1.Pair{Name: h.Name, Value: h.Value})
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	report, err := ping.Run(ctx, cfg)
	switch {
	case ctx.Err() != nil:
		return command.Exit(command.ExitInterrupted, nil)
	case err != nil:
		return err
	case report.Kind != "":
		values := make([]string, len(given))
		for i := range given {
			values[i] = string(given[i].Value)
		}
		return refuses(missing, redact.New(values).Values(fmt.Sprintf("%s: %s", report.Kind, report.Error)), remedyOf(ask.URL, report.Kind))
	}
	total := len(report.Service.Descriptors)
	for i := range program.Files {
		total += len(program.Files[i].Data)
	}
	if total > plan.FileBytesMax {
		return refuses(missing, fmt.Sprintf("reflection tells %d files of %d KiB, and a program has at most %d KiB", report.Service.Files, len(report.Service.Descriptors)>>10, plan.FileBytesMax>>10), "name the services that the file calls: grpc.reflect(services = [\"shop.v1.Orders\"])")
	}
	program.Files = append(program.Files, message.File{Name: missing.Name, Data: report.Service.Descriptors})
	return nil
}

// refuses is the error of a client whose server tells nothing that a program can have, at the client's place.
func refuses(missing *workflow.Unreflected, why, remedy string) error {
	var place *language.Error
	if !errors.As(missing, &place) {
		return errors.New(why)
	}
	wrong := *place
	wrong.Message, wrong.Remedy = "grpc.client: "+why, remedy
	return &wrong
}

// remedyOf says what to do about a server that tells nothing.
func remedyOf(url, kind string) string {
	switch {
	case strings.HasPrefix(kind, "tls"):
		return "write grpc.reflect(tls = tls(ca = file(\"ca.pem\"))): the workflow's http.client holds for its requests alone"
	case kind == "server UNAUTHENTICATED" || kind == "server PERMISSION_DENIED":
		return "write grpc.reflect(metadata = {\"authorization\": secret(\"token\")}), or the same as metadata of grpc.client"
	}
	return url + " is asked before the file is loaded: start the server, or take grpc.descriptors(\"shop.binpb\") of a file"
}
