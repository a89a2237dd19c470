package history

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"hyperscale/runtime/report"
)

// digest is a keyed digest of values: equal in one history, and of no use outside it.
func (s *Store) digest(values ...string) string {
	text, _ := json.Marshal(values) // strings always can be
	mac := hmac.New(sha256.New, s.key)
	_, _ = mac.Write(text) // a hash takes everything
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// asked describes the load of each workflow.
func asked(r *report.Result) []string {
	var all []string
	if r.Run != nil && len(r.Run.Loads) > 0 {
		for _, l := range r.Run.Loads {
			all = append(all, l.Workflow+": "+l.Text)
		}
		return all
	}
	// A file of an earlier version, or of a job that was watched, says only what ran.
	for i := range r.Workflows {
		w := &r.Workflows[i]
		all = append(all, w.Name+": "+report.LoadSeen(w))
	}
	return all
}

// loadText is the load for people: without the name if there is one workflow.
func loadText(all []string) string {
	if len(all) == 1 {
		_, text, _ := strings.Cut(all[0], ": ")
		return text
	}
	return strings.Join(all, "; ")
}

// loadDigest names a load: what was asked of each workflow, where it ran, and the parameters.
func (s *Store) loadDigest(r *report.Result, params []string) string {
	parts := append(asked(r), slices.Sorted(maps.Keys(r.Datacenters))...)
	for _, p := range params {
		parts = append(parts, portless(p))
	}
	return s.digest(parts...)
}

// portless leaves out the port of an address of this machine: servers of tests have another each time.
func portless(param string) string {
	name, value, _ := strings.Cut(param, "=")
	u, err := url.Parse(value)
	if err != nil || u.Port() == "" {
		return param
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if u.Hostname() != "localhost" && (err != nil || !ip.IsLoopback()) {
		return param
	}
	u.Host = u.Hostname()
	return name + "=" + u.String()
}

// setFlag is the flag whose values stay out of the history.
const setFlag = "--set"

// withoutValues returns the arguments of a run with a digest in place of each value of --set, and the
// values, sorted. A value that is a digest already, of an exported run, stays.
func (s *Store) withoutValues(run *report.Run) (hidden, params []string) {
	command, live := run.Command, run.Given != nil
	hidden = slices.Clone(command)
	value := func(pair string) string {
		name, v, ok := strings.Cut(pair, "=")
		params = append(params, pair)
		if !ok || !live && strings.HasPrefix(v, digestMark) {
			return pair
		}
		return name + "=" + digestMark + s.digest(name, v)
	}
	for i, arg := range hidden {
		joined, isSet := strings.CutPrefix(arg, setFlag+"=")
		switch {
		case isSet:
			hidden[i] = setFlag + "=" + value(joined)
		case i > 0 && command[i-1] == setFlag:
			hidden[i] = value(arg)
		}
	}
	if live { // also those of variables and files, and as they are
		params = slices.Clone(run.Given)
	}
	slices.Sort(params)
	return hidden, params
}

// digestMark begins a digest that stands for a value.
const digestMark = "hmac:"

// programDigest names the files of a program.
func programDigest(r *report.Result) string {
	if r.Run == nil {
		return ""
	}
	return r.Run.ProgramDigest()
}

// machineOf names what ran the generator, as far as a result says.
func machineOf(r *report.Result) string {
	if r.Run == nil {
		return ""
	}
	var cores []string
	for i := range r.Workflows {
		cores = append(cores, strconv.FormatUint(uint64(r.Workflows[i].Cores), 10))
	}
	return fmt.Sprintf("%s, %d processors of %s, executors %s", r.Run.System, r.Run.CPUs, cmp.Or(r.Run.CPU, "an unknown kind"), strings.Join(cores, "+"))
}
