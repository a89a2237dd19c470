package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

// Order is what the holder of a test world's register tells those who obey it.
//
//catalogue:message kind=8 class=control priority=high
type Order struct {
	Job   JobID      `msg:"job" require:"true"`
	Token LeaseToken `msg:"token"`
	Value uint64     `msg:"value"`
}
