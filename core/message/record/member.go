package record

// Member is what makes a disk the disk of a member of a group of registers.
type Member struct {
	Standing    uint8    `rec:"standing"`                      // as in message.LeaseHail
	Epoch       uint64   `rec:"epoch"`                         // of the group: a recovery raises it
	Generations []uint64 `rec:"generations" max:"1024"`        // of the members' disks, the highest known
	Members     []string `rec:"members" max:"1024"`            // the set by seat; sorted while Version is 0
	Floor       uint64   `rec:"floor"`                         // highest epoch of the promises that its registers have forgotten
	Level       uint16   `rec:"level" since:"1"`               // of what the group writes: an operator raises it, and it never falls
	Version     uint64   `rec:"version" since:"1"`             // how many seats were given to other addresses
	Ordinals    []uint64 `rec:"ordinals" max:"1024" since:"1"` // of the seats in tokens; empty while Version is 0: from 1 on
	Retired     []string `rec:"retired" max:"1024" since:"1"`  // addresses that had seats before
	Unknown     Unknown
}
