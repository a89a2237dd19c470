package amqp

// method is the number of a method: that of its class, and its own.
type method uint32

// The methods that either side sends.
const (
	connectionStart     method = 10<<16 | 10
	connectionStartOK   method = 10<<16 | 11
	connectionSecure    method = 10<<16 | 20
	connectionTune      method = 10<<16 | 30
	connectionTuneOK    method = 10<<16 | 31
	connectionOpen      method = 10<<16 | 40
	connectionOpenOK    method = 10<<16 | 41
	connectionClose     method = 10<<16 | 50
	connectionCloseOK   method = 10<<16 | 51
	connectionBlocked   method = 10<<16 | 60
	connectionUnblocked method = 10<<16 | 61
	channelOpen         method = 20<<16 | 10
	channelOpenOK       method = 20<<16 | 11
	channelFlow         method = 20<<16 | 20
	channelFlowOK       method = 20<<16 | 21
	channelClose        method = 20<<16 | 40
	channelCloseOK      method = 20<<16 | 41
	exchangeDeclare     method = 40<<16 | 10
	exchangeDeclareOK   method = 40<<16 | 11
	queueDeclare        method = 50<<16 | 10
	queueDeclareOK      method = 50<<16 | 11
	queueBind           method = 50<<16 | 20
	queueBindOK         method = 50<<16 | 21
	basicQos            method = 60<<16 | 10
	basicQosOK          method = 60<<16 | 11
	basicConsume        method = 60<<16 | 20
	basicConsumeOK      method = 60<<16 | 21
	basicCancel         method = 60<<16 | 30
	basicCancelOK       method = 60<<16 | 31
	basicPublish        method = 60<<16 | 40
	basicReturn         method = 60<<16 | 50
	basicDeliver        method = 60<<16 | 60
	basicGet            method = 60<<16 | 70
	basicGetOK          method = 60<<16 | 71
	basicGetEmpty       method = 60<<16 | 72
	basicAck            method = 60<<16 | 80
	basicNack           method = 60<<16 | 120
	confirmSelect       method = 85<<16 | 10
	confirmSelectOK     method = 85<<16 | 11
)

// classBasic is the class of everything that has content.
const classBasic = 60

// side says who sends a method.
type side uint8

const (
	client side = 1 << iota
	server
)

// shape is what a method looks like on the wire. Fields has a letter for each argument: o, s, l and q are
// numbers of 1, 2, 4 and 8 bytes, b is a bit, S and L are short and long texts, T is a table.
type shape struct {
	of      method
	name    string
	fields  string
	from    side
	content bool // a header and a body follow
}

// shapes has them in the order of their numbers.
var shapes = [...]shape{
	{connectionStart, "connection.start", "ooTLL", server, false},
	{connectionStartOK, "connection.start-ok", "TSLS", client, false},
	{connectionSecure, "connection.secure", "L", server, false},
	{connectionTune, "connection.tune", "sls", server, false},
	{connectionTuneOK, "connection.tune-ok", "sls", client, false},
	{connectionOpen, "connection.open", "SSb", client, false},
	{connectionOpenOK, "connection.open-ok", "S", server, false},
	{connectionClose, "connection.close", "sSss", client | server, false},
	{connectionCloseOK, "connection.close-ok", "", client | server, false},
	{connectionBlocked, "connection.blocked", "S", server, false},
	{connectionUnblocked, "connection.unblocked", "", server, false},
	{channelOpen, "channel.open", "S", client, false},
	{channelOpenOK, "channel.open-ok", "L", server, false},
	{channelFlow, "channel.flow", "b", client | server, false},
	{channelFlowOK, "channel.flow-ok", "b", client | server, false},
	{channelClose, "channel.close", "sSss", client | server, false},
	{channelCloseOK, "channel.close-ok", "", client | server, false},
	{exchangeDeclare, "exchange.declare", "sSSbbbbbT", client, false},
	{exchangeDeclareOK, "exchange.declare-ok", "", server, false},
	{queueDeclare, "queue.declare", "sSbbbbbT", client, false},
	{queueDeclareOK, "queue.declare-ok", "Sll", server, false},
	{queueBind, "queue.bind", "sSSSbT", client, false},
	{queueBindOK, "queue.bind-ok", "", server, false},
	{basicQos, "basic.qos", "lsb", client, false},
	{basicQosOK, "basic.qos-ok", "", server, false},
	{basicConsume, "basic.consume", "sSSbbbbT", client, false},
	{basicConsumeOK, "basic.consume-ok", "S", server, false},
	{basicCancel, "basic.cancel", "Sb", client | server, false},
	{basicCancelOK, "basic.cancel-ok", "S", client | server, false},
	{basicPublish, "basic.publish", "sSSbb", client, true},
	{basicReturn, "basic.return", "sSSS", server, true},
	{basicDeliver, "basic.deliver", "SqbSS", server, true},
	{basicGet, "basic.get", "sSb", client, false},
	{basicGetOK, "basic.get-ok", "qbSSl", server, true},
	{basicGetEmpty, "basic.get-empty", "S", server, false},
	{basicAck, "basic.ack", "qb", client | server, false},
	{basicNack, "basic.nack", "qbb", client | server, false},
	{confirmSelect, "confirm.select", "b", client, false},
	{confirmSelectOK, "confirm.select-ok", "", server, false},
}

// shapeOf returns the shape of a method; nil: there is none.
func shapeOf(m method) *shape {
	low, high := 0, len(shapes)
	for low < high {
		if at := int(uint(low+high) >> 1); shapes[at].of < m {
			low = at + 1
		} else {
			high = at
		}
	}
	if low < len(shapes) && shapes[low].of == m {
		return &shapes[low]
	}
	return nil
}
