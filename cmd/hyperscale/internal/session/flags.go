package session

import (
	"cmp"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/certs"
)

// Flags is that of commands that talk to a cluster.
type Flags struct {
	Addresses            []string
	Cluster, Environment string
	Near                 bool   // what it says must not leave this machine in clear text
	secret               string // the file of the cluster's secrets; empty: none
	certs                certs.Files
	journal              string
	resolver             string // of names; empty: those of the machine
	over                 over

	Note func(format string, args ...any) // tells people what the command waits for; nil: it tells none
}

// over is a cluster's HTTP API, where a command asks that in place of gates' own ports.
type over struct {
	urls      []string
	token, ca string // files
}

// near says that nothing may leave this machine.
func (f *Flags) near() bool { return f.Near && f.secret == "" && !f.certs.Given() }

// AddBoth gives the command its flags, with those of the HTTP API.
func (f *Flags) AddBoth(cmd *cobra.Command) {
	f.Add(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&f.over.urls, "api", nil, "`URL` of a gate's HTTP API, in place of --gate: https://HOST:PORT (several are tried in turn)")
	flags.StringVar(&f.over.token, "token-file", "", "with --api: `FILE` of a token, of `hyperscale token new`")
	flags.StringVar(&f.over.ca, "api-ca", "", "with --api: PEM `FILE` of an authority of its certificate, beside those of the system")
	flags.Lookup("gate").Usage = strings.Replace(flags.Lookup("gate").Usage, "(required; several", "(required, or --api; several", 1)
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if err := f.checkOver(flags); err != nil || before == nil {
			return err
		}
		return before(cmd, args)
	}
}

// check rejects flags of one way to the cluster together with the other.
func (f *Flags) checkOver(flags *pflag.FlagSet) error {
	o := &f.over
	if len(o.urls) == 0 {
		for _, name := range []string{"token-file", "api-ca"} {
			if flags.Changed(name) {
				return command.Usage("--%s goes with --api: add it, or leave it out", name)
			}
		}
		return nil
	}
	for _, name := range []string{"gate", "resolver", "cluster-name", "environment", "cluster-secret", "tls-ca", "journal"} {
		if flags.Changed(name) {
			return command.Usage("--%s is of gates' own ports, and --api asks none of them: leave one of the two out", name)
		}
	}
	switch {
	case o.token != "" && (flags.Changed("tls-cert") || flags.Changed("tls-key")):
		return command.Usage("--token-file and --tls-cert both name the caller: leave one of them out")
	case o.token == "" && (f.certs.Cert == "" || f.certs.Key == ""):
		return command.Usage("--token-file is missing: give the file of a token, as in --api %s --token-file ci.token, or a client's certificate to --tls-cert and --tls-key", o.urls[0])
	}
	return nil
}

// Add gives the command its flags. Where --cluster means something else, the name
// of the cluster is --cluster-name.
func (f *Flags) Add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.Addresses, "gate", nil, "`address` of a gate, host:port (required; several are tried in turn), or dns:NAME:PORT or srv:NAME for all addresses of a name")
	flags.StringVar(&f.resolver, "resolver", os.Getenv("HYPERSCALE_RESOLVER"), "`IP:PORT` of the DNS server for dns: and srv: names; HYPERSCALE_RESOLVER sets it too")
	name := "cluster"
	if flags.Lookup(name) != nil {
		name = "cluster-name"
	}
	flags.StringVar(&f.Cluster, name, cmp.Or(os.Getenv("HYPERSCALE_CLUSTER"), "default"), "`name` of the cluster; HYPERSCALE_CLUSTER sets it too")
	flags.StringVar(&f.Environment, "environment", cmp.Or(os.Getenv("HYPERSCALE_ENVIRONMENT"), "default"), "`name` of its environment; HYPERSCALE_ENVIRONMENT sets it too")
	flags.StringVar(&f.secret, "cluster-secret", os.Getenv("HYPERSCALE_CLUSTER_SECRET"), "`FILE` of the secret that its nodes share; HYPERSCALE_CLUSTER_SECRET sets it too")
	flags.StringVar(&f.certs.Cert, "tls-cert", os.Getenv("HYPERSCALE_TLS_CERT"), "PEM `FILE` of the client's certificate, which says what it may do; HYPERSCALE_TLS_CERT sets it too")
	flags.StringVar(&f.certs.Key, "tls-key", os.Getenv("HYPERSCALE_TLS_KEY"), "PEM `FILE` of its key; HYPERSCALE_TLS_KEY sets it too")
	flags.StringVar(&f.certs.CA, "tls-ca", os.Getenv("HYPERSCALE_TLS_CA"), "PEM `FILE` of the authorities of the gates' certificates; HYPERSCALE_TLS_CA sets it too")
	const journal = "append each call and its answer to `FILE` as lines of JSON, for a checker"
	flags.StringVar(&f.journal, "journal", "", journal)
	if flags.Lookup("history") == nil { // the former name of --journal, which scripts have; of submit it is the file of runs
		flags.StringVar(&f.journal, "history", "", journal)
		_ = flags.MarkHidden("history") // it was added just now
	}
}
