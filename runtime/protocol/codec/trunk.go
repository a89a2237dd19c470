package codec

// Trunk is a dialogue on which several exchanges are under way at once. Ids name them: from 1 on, without
// gaps that last, and an id is used again once its exchange has ended or was given up. Its carrier calls
// Carry before each exchange speaks, and Message tells what Answers says:
//
//	TRUNK-1 A message answers the one exchange that Answers names, whose answer had not come.
//	TRUNK-2 What comes for an exchange that was given up ends no other one, also none with the same id.
//	TRUNK-3 An error that ends one exchange leaves the others alone.
type Trunk interface {
	Dialogue
	// Room is the greatest id; 0: the carrier's.
	Room() int
	// Keeps says that an id stays with the slot whose exchange had it, as the server may yet say something of that
	// exchange: another slot takes it only where all are taken.
	Keeps() bool
	// Carry says which exchange speaks next.
	Carry(id uint32)
	// Queued is how many bytes the exchange that speaks, or has spoken before, has to send; 0: all of it waits, as
	// the server takes none now.
	Queued(id uint32) int
	// Answers is the exchange that a message ends, and the bytes that came for it. It is valid during Message.
	Answers() (id uint32, in int)
	// GiveUp forgets an exchange. False: only closing the connection does, once the others have ended.
	GiveUp(id uint32) bool
}

// Pausing is a trunk whose server may say that it reads nothing for now.
type Pausing interface {
	Trunk
	// Pauses reports that it does: its silence tells nothing.
	Pauses() bool
}
