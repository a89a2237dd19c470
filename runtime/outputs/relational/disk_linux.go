package relational

import "syscall"

// remote are the file systems of other machines, by the numbers of statfs: NFS, CIFS, SMB2, SMB, AFS, 9p, Ceph.
var remote = []int64{0x6969, 0xff534d42, 0xfe534d42, 0x517b, 0x5346414f, 0x01021997, 0x00c36400}

// onNetwork says that a folder is on another machine, whose locks SQLite cannot trust.
func onNetwork(folder string) bool {
	var at syscall.Statfs_t
	if err := syscall.Statfs(folder, &at); err != nil {
		return false // opening the file says more
	}
	return isRemote(int64(at.Type)) //nolint:unconvert // 32 bits on some machines
}

func isRemote(number int64) bool {
	for _, n := range remote {
		if number&0xffffffff == n {
			return true
		}
	}
	return false
}
