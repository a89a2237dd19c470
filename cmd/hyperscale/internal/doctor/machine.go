package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"hyperscale/core/node"
	"hyperscale/runtime/config"
)

// machine is what a node runs on. Tests replace its parts.
type machine struct {
	root     string // of /proc and /sys
	volume   func(path string) (volume, error)
	files    func() (uint64, error) // open at once
	sync     func(*os.File) error
	now      func() time.Time
	patience time.Duration // with an echo
	span     time.Duration // between two comparisons of clocks
}

// volume is a file system.
type volume struct {
	size, free uint64 // bytes; free to a user without rights
	kind       int64  // as Linux numbers it
}

func thisMachine() *machine {
	return &machine{
		root: "/", volume: volumeAt, files: openFiles, sync: (*os.File).Sync, now: time.Now, patience: 500 * time.Millisecond, span: time.Second,
	}
}

func volumeAt(path string) (volume, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return volume{}, err
	}
	block := uint64(s.Bsize)
	return volume{size: s.Blocks * block, free: s.Bavail * block, kind: int64(s.Type)}, nil
}

func openFiles() (uint64, error) {
	var limit unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit)
	return limit.Cur, err
}

// Limits of open files: below the first a node refuses peers soon, below the second before it has a few thousand. The third is
// enough for 10,000 workers.
const (
	filesLeast  = 1024
	filesFew    = 8192
	filesEnough = 24_000
)

// findings looks at the limits of the machine.
func (m *machine) findings(c *config.Node) []Finding {
	all := []Finding{m.openFiles()}
	all = append(all, m.cpu(c)...)
	all = append(all, m.memory(c)...)
	return append(all, m.kernel(c.Role == node.RoleWorker)...)
}

func (m *machine) openFiles() Finding {
	const check, what = "files", "ulimit -n"
	remedy := fmt.Sprintf("raise it to %d or more, with LimitNOFILE= of the unit or `ulimit -n`", filesEnough)
	switch n, err := m.files(); {
	case err != nil:
		return warn(check, what, "look at `ulimit -n`", "%s", err)
	case n < filesLeast:
		return fail(check, what, remedy, "%d files may be open", n)
	case n < filesFew:
		return warn(check, what, remedy, "%d files may be open", n)
	default:
		return ok(check, what, "%d files may be open", n)
	}
}

// Bounds of kernel settings.
const (
	backlogLeast = 1024
	portsLeast   = 20_000
	bufferLeast  = 7 << 20 // of a QUIC socket
	trackedMost  = 80      // percent
)

// kernel looks at the settings that limit connections. What the kernel does not show is no finding.
func (m *machine) kernel(load bool) (all []Finding) {
	const check = "kernel"
	at := func(name string, bad bool, remedy, format string, args ...any) {
		if bad {
			all = append(all, warn(check, name, remedy, format, args...))
		} else {
			all = append(all, ok(check, name, format, args...))
		}
	}
	if v := m.numbers("proc/sys/net/core/somaxconn"); len(v) == 1 {
		at("net.core.somaxconn", v[0] < backlogLeast, "sysctl -w net.core.somaxconn=4096", "%d connections wait for a node at most", v[0])
	}
	if !load {
		return all
	}
	if v := m.numbers("proc/sys/net/ipv4/ip_local_port_range"); len(v) == 2 {
		n := max(v[1]-v[0]+1, 0)
		at("net.ipv4.ip_local_port_range", n < portsLeast, `sysctl -w net.ipv4.ip_local_port_range="1024 65535"`, "%d connections to one address of a target at most", n)
	}
	if v := m.numbers("proc/sys/net/core/rmem_max"); len(v) == 1 {
		at("net.core.rmem_max", v[0] < bufferLeast, fmt.Sprintf("sysctl -w net.core.rmem_max=%d, if workflows speak HTTP/3", bufferLeast), "%d bytes wait in a socket at most", v[0])
	}
	used, most := m.numbers("proc/sys/net/netfilter/nf_conntrack_count"), m.numbers("proc/sys/net/netfilter/nf_conntrack_max")
	if len(used) == 1 && len(most) == 1 && most[0] > 0 {
		share := 100 * used[0] / most[0]
		at("net.netfilter.nf_conntrack_max", share >= trackedMost, "raise it, or track no connections of workers (NOTRACK)", "%d %% of its entries are used", share)
	}
	return all
}

// numbers reads a file of numbers; none if it cannot be read.
func (m *machine) numbers(path string) (all []int64) {
	b, err := os.ReadFile(filepath.Join(m.root, path))
	if err != nil || len(b) > 4096 {
		return nil
	}
	for _, word := range strings.Fields(string(b)) {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil
		}
		all = append(all, n)
	}
	return all
}
