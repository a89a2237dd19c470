package relational

import "testing"

func TestNetworkFileSystems(t *testing.T) {
	for number, want := range map[int64]bool{0x6969: true, 0xff534d42: true, -0xacb2be: true, 0xef53: false, 0x58465342: false, 0x01021994: false} {
		if isRemote(number) != want {
			t.Errorf("statfs %x: %v", number, !want)
		}
	}
	if onNetwork(t.TempDir()) {
		t.Error("a folder of this machine is on another one")
	}
}
