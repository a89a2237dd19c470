package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"hyperscale/core/node"
	"hyperscale/runtime/config"
)

// Bounds of disks.
const (
	freeLeast  = 64 << 20 // bytes, for a node to begin
	freeShare  = 10       // percent, below which a node raises the alert disk-low
	syncsWhole = 200
	syncsMax   = 5 * time.Second
	syncSlow   = 20 * time.Millisecond
	syncsWait  = 10 // writes that a majority's answer may wait for
)

// kinds are file systems on which promises do not last.
func kinds() map[int64]string {
	return map[int64]string{0x6969: "NFS", 0xFF534D42: "SMB", 0xFE534D42: "SMB", 0x517B: "SMB", 0x65735546: "FUSE", 0x01021994: "memory (tmpfs)", 0x858458f6: "memory (ramfs)"}
}

// disk looks at the data directory: its file system, its free space, and how long a write takes.
func (m *machine) disk(c *config.Node) (all []Finding) {
	const check = "disk"
	dir := c.Data
	for _, err := os.Stat(dir); err != nil && filepath.Dir(dir) != dir; _, err = os.Stat(dir) {
		dir = filepath.Dir(dir) // a node makes its directory
	}
	v, err := m.volume(dir)
	if err != nil {
		return []Finding{fail(check, c.Data, "give a directory of a local disk to --data", "%s", err)}
	}
	owner := c.Role != node.RoleWorker
	kind, bad := kinds()[v.kind]
	switch memory := v.kind == 0x01021994 || v.kind == 0x858458f6; {
	case bad && memory && owner:
		all = append(all, warn(check, c.Data, "give a directory of a disk to --data", "it is on %s: a restart of the machine loses what this node acknowledged", kind))
	case bad && !memory:
		all = append(all, fail(check, c.Data, "give a directory of a local disk to --data", "it is on %s, which another machine may have, too", kind))
	}
	free := uint64(100)
	if v.size > 0 {
		free = v.free * 100 / v.size
	}
	const space = "free space below --data, or give it a larger volume"
	switch {
	case v.free < freeLeast:
		all = append(all, fail(check, c.Data, space, "%d MiB are free, and the node needs %d MiB to begin", v.free>>20, freeLeast>>20))
	case free < freeShare:
		all = append(all, warn(check, c.Data, space, "%d %% of the volume are free: alert disk-low", free))
	default:
		all = append(all, ok(check, c.Data, "%d %% of the volume are free", free))
	}
	return append(all, m.speed(c, dir))
}

// speed measures writes that must survive, as a node's are.
func (m *machine) speed(c *config.Node, dir string) Finding {
	const check = "fsync"
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return fail(check, c.Data, "let the node's user write to --data", "%s", err)
	}
	defer func() {
		_ = f.Close()           // its content means nothing
		_ = os.Remove(f.Name()) // likewise
	}()
	page := make([]byte, 4096)
	var took []time.Duration
	for begun := m.now(); len(took) < syncsWhole && m.now().Sub(begun) < syncsMax; {
		at := m.now()
		if _, err = f.WriteAt(page, int64(len(took)%64)*4096); err == nil {
			err = m.sync(f)
		}
		if err != nil {
			return fail(check, c.Data, "free space, or see the kernel's log for errors of the disk", "%s", err)
		}
		took = append(took, m.now().Sub(at))
	}
	slices.Sort(took)
	p99 := took[(len(took)*99+99)/100-1].Round(10 * time.Microsecond)
	const faster = "put --data on a faster disk of its own"
	switch {
	case c.QuorumTimeout > 0 && p99*syncsWait > c.QuorumTimeout:
		return fail(check, c.Data, faster+", or raise --quorum-timeout to ten times the slowest write", "p99 of %d writes is %s, and a majority must answer within %s", len(took), p99, c.QuorumTimeout)
	case p99 > syncSlow:
		return warn(check, c.Data, faster, "p99 of %d writes is %s, should be at most %s", len(took), p99, syncSlow)
	}
	return ok(check, c.Data, "p99 of %d writes is %s", len(took), p99)
}
