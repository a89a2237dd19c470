package record

// Member is what makes a disk the disk of a member of a group of registers.
type Member struct {
	Standing    uint8    `rec:"standing"`               // as in message.LeaseHail
	Epoch       uint64   `rec:"epoch"`                  // of the group: a recovery raises it
	Generations []uint64 `rec:"generations" max:"1024"` // of the members' disks, the highest known
	Members     []string `rec:"members" max:"1024"`     // the configured set, sorted
	Floor       uint64   `rec:"floor"`                  // highest epoch of the promises that its registers have forgotten
	Level       uint16   `rec:"level" since:"1"`        // of what the group writes: an operator raises it, and it never falls
	Unknown     Unknown
}
