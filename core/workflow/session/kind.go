package session

// Kind says which calls a session takes, and what its messages have.
type Kind uint8

// The kinds.
const (
	Socket       Kind = iota // both sides send
	Events                   // it receives events
	Subscription             // it receives messages of channels
	Letters                  // it receives messages with a subject
	Topics                   // it receives messages with a topic
	Deliveries               // it receives messages of a queue, and says what becomes of them
	Call                     // both sides send messages of a schema, until each says that it has sent all
	Pulled                   // it asks for messages with a subject, and settles each
	Every                    // what any of them has: for those that list the words
)

// attributes are what functions find in a session of a kind.
func (k Kind) attributes() []string {
	switch k {
	case Events:
		return []string{"close", "error", "receive", "status"}
	case Subscription, Letters, Topics:
		return []string{"close", "error", "ping", "receive", "status"}
	case Pulled:
		return []string{"ack", "close", "error", "nak", "ping", "progress", "receive", "status", "term"}
	case Deliveries:
		return []string{"ack", "close", "error", "nack", "ping", "receive", "status"}
	case Call:
		return []string{"close", "close_send", "error", "receive", "send", "status"}
	case Every:
		return []string{"ack", "close", "close_send", "error", "nack", "nak", "ping", "progress", "receive", "send", "status", "term"}
	}
	return []string{"close", "error", "ping", "receive", "send", "status"}
}

// has are what functions find in a message beside what all have.
func (k Kind) has() []string {
	switch k {
	case Events:
		return []string{"event", "id"}
	case Subscription:
		return []string{"channel", "pattern"}
	case Letters:
		return []string{"reply", "subject"}
	case Pulled:
		return []string{"deliveries", "reply", "sequence", "subject"}
	case Topics:
		return []string{"reply", "retained", "topic"}
	case Deliveries:
		return []string{"exchange", "key", "redelivered"}
	case Every:
		return []string{"channel", "deliveries", "event", "exchange", "id", "key", "pattern", "redelivered", "reply", "sequence", "retained", "subject", "topic"}
	}
	return nil
}
