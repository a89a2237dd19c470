package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/certs"
)

// newCertsCommand makes the certificates of test clusters.
func newCertsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "certs",
		Short: "make the certificates of a test cluster's nodes and clients",
		Long: `Make the certificates of a test cluster's nodes and clients.

Nodes with --tls-cert, --tls-key and --tls-ca speak TLS on streams, tell each other's
roles apart, and ask clients what they may do. In production, request certificates from
step-ca, cert-manager or Vault: docs/security.md lists the names to ask for.`,
		Example: "  hyperscale certs new out/certs --cluster test gate manager@paris worker@paris operator:ann",
		Args:    command.RefuseCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCertsNewCommand())
	return cmd
}

// certsFlags are those of `certs new`.
type certsFlags struct {
	cluster, environment string
	days                 int
}

// daysMax bounds how long a certificate of a test is valid.
const daysMax = 3650

func newCertsNewCommand() *cobra.Command {
	var f certsFlags
	cmd := &cobra.Command{
		Use:   "new DIR ROLE[:NAME][@DATACENTER]...",
		Short: "write an authority to DIR, unless it is there, and a certificate for each role",
		Long: `Write an authority to DIR, unless it is there, and a certificate for each role.

A role is gate, manager, worker, operator, submitter or viewer. Managers and workers
need a datacenter: worker@paris. A name after a node's role is its --id, and only that
node may use the certificate: gate:gate-1. A name after a client's role is who it is:
submitter:ann owns the jobs that it submits.`,
		Example: "  hyperscale certs new out/certs --cluster test gate manager@paris worker@paris operator:ann",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return command.Usage("name a directory, and a role at least: certs new out/certs gate manager@paris worker@paris operator:ann")
			}
			return nil
		},
		RunE: command.Runs(func(cmd *cobra.Command, args []string) error {
			lines, err := f.make(args[0], args[1:])
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), strings.Join(lines, "\n")+"\n")
			return err
		}),
	}
	cmd.Flags().StringVar(&f.cluster, "cluster", "default", "`name` of the cluster that the certificates are for")
	cmd.Flags().StringVar(&f.environment, "environment", "default", "`name` of its environment")
	cmd.Flags().IntVar(&f.days, "days", 30, "how many days they are valid")
	return cmd
}

// make writes all files, and says how to use them.
func (f *certsFlags) make(dir string, specs []string) (lines []string, err error) {
	if f.days < 1 || f.days > daysMax {
		return nil, command.Usage("--days %d must be 1 to %d", f.days, daysMax)
	}
	now := time.Now()
	var requests []*certs.Request
	for _, spec := range specs {
		r, err := f.request(spec, now)
		if err != nil {
			return nil, err
		}
		for _, other := range requests {
			if fileOf(other) == fileOf(r) {
				return nil, command.Usage("%s is named twice: give one of them a name, as in %s:b", spec, r.Role)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, fileOf(r)+".key")); err == nil {
			return nil, command.Usage("%s exists, and a node may use it: name another one, or another directory", filepath.Join(dir, fileOf(r)+".key"))
		}
		requests = append(requests, r)
	}
	issuer, found, err := f.issuer(dir, now)
	if err != nil {
		return nil, err
	}
	what := "the new authority"
	if found {
		what = "the authority"
	}
	ca := filepath.Join(dir, "ca.crt")
	lines = append(lines, fmt.Sprintf("%s is %s of cluster %s, environment %s, for %d days.", ca, what, f.cluster, f.environment, f.days))
	for _, r := range requests {
		certificate, key, err := issuer.Issue(r)
		if err != nil {
			return nil, err
		}
		path := filepath.Join(dir, fileOf(r))
		if err := errors.Join(create(path+".key", key, 0o600), create(path+".crt", certificate, 0o644)); err != nil {
			return nil, err
		}
		lines = append(lines, fmt.Sprintf("%-12s --tls-cert %s.crt --tls-key %s.key --tls-ca %s", fileOf(r), path, path, ca))
	}
	return append(lines, "Keep "+filepath.Join(dir, "ca.key")+" to yourself: its holder makes nodes and operators. These certificates are for tests:",
		"in production, request them from step-ca, cert-manager or Vault. docs/security.md says which names."), nil
}

// request reads ROLE[:NAME][@DATACENTER].
func (f *certsFlags) request(spec string, now time.Time) (*certs.Request, error) {
	rest, datacenter, placed := strings.Cut(spec, "@")
	role, given, named := strings.Cut(rest, ":")
	nodes, clients := []string{"gate", "manager", "worker"}, []string{"operator", "submitter", "viewer"}
	stands := role == "manager" || role == "worker"
	switch {
	case !slices.Contains(nodes, role) && !slices.Contains(clients, role):
		return nil, command.Usage("%q is no role%s: write gate, manager, worker, operator, submitter or viewer", role, command.DidYouMean(role, append(nodes, clients...)))
	case stands && !placed:
		return nil, command.Usage("%s stands in a datacenter: write %s@NAME", spec, spec)
	case placed && !stands:
		return nil, command.Usage("%s: a %s stands in no datacenter: leave out @%s", spec, role, datacenter)
	}
	for _, v := range []struct {
		what, value string
		is          bool
	}{{"name", given, named}, {"datacenter", datacenter, placed}, {"cluster", f.cluster, true}, {"environment", f.environment, true}} {
		if v.is && !plainName(v.value) {
			return nil, command.Usage("%s: the %s %q must be 1 to 128 letters, digits or .-_", spec, v.what, v.value)
		}
	}
	if given == "ca" {
		return nil, command.Usage("%s: ca is the name of the authority's files: choose another name", spec)
	}
	r := &certs.Request{
		Name: given, Role: role, Cluster: f.cluster, Environment: f.environment, Datacenter: datacenter,
		From: now.Add(-time.Hour), Until: now.Add(time.Duration(f.days) * 24 * time.Hour), // clocks differ
	}
	if !named {
		r.Name = fileOf(r)
	} else if slices.Contains(nodes, role) {
		r.Node = given
	}
	return r, nil
}

func plainName(text string) bool {
	return text != "" && len(text) <= 128 && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(".-_", r)
	})
}

// fileOf is the name of a certificate's files.
func fileOf(r *certs.Request) string {
	if r.Name != "" {
		return r.Name
	}
	if r.Datacenter != "" {
		return r.Role + "-" + r.Datacenter
	}
	return r.Role
}

// issuer reads the authority of a directory, or makes one.
func (f *certsFlags) issuer(dir string, now time.Time) (issuer *certs.Issuer, found bool, err error) {
	public, private := filepath.Join(dir, "ca.crt"), filepath.Join(dir, "ca.key")
	key, err := os.ReadFile(private)
	if err == nil {
		certificate, err := os.ReadFile(public)
		if err == nil {
			issuer, err = certs.ReadIssuer(certificate, key)
		}
		if err != nil {
			return nil, false, command.Usage("the authority in %s cannot be used: %w: name another directory", dir, err)
		}
		return issuer, true, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, false, command.AsUsage(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, false, command.AsUsage(err)
	}
	if issuer, err = certs.NewIssuer("hyperscale test authority of "+f.cluster, now.Add(-time.Hour), now.Add(daysMax*24*time.Hour)); err != nil {
		return nil, false, err
	}
	certificate, key, err := issuer.PEM()
	if err == nil {
		err = errors.Join(create(public, certificate, 0o644), create(private, key, 0o600))
	}
	return issuer, false, err
}

// create writes a file that did not exist.
func create(path string, text []byte, mode fs.FileMode) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return command.Usage("%s exists, and its nodes may use it: name another directory", path)
	}
	if err != nil {
		return command.AsUsage(err)
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		_ = os.Remove(path) // it is not whole
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
