package plan

import (
	"slices"
	"strings"

	"hyperscale/core/message"
)

// The measures of protocols: what they count or time beside a request's latency. The list is
// closed, so that an observer can name each of them.
const (
	MeasureFirstEvent = "first_event" // of a stream of events: from the intended start to its first
	MeasureEventGap   = "event_gap"   // from one event to the next
	MeasureEvents     = "events"      // whole ones

	MeasureFirstMessage     = "first_message"     // of an exchange: from the intended start to the first one received
	MeasureMessageLatency   = "message_latency"   // from when an exchange's messages went out to each one received
	MeasureMessagesReceived = "messages_received" // whole ones
	MeasureMessagesSent     = "messages_sent"     // whole ones, that the kernel took
	MeasurePingLatency      = "ping_latency"      // from a ping of a session to its answer

	MeasureDatagramsDropped = "datagrams_dropped" // by the kernel, at the socket
	MeasureDatagramsLate    = "datagrams_late"    // that came behind their exchange's timeout
	MeasureDatagramsLost    = "datagrams_lost"    // that exchanges asked for, and did not get in time
	MeasureDatagramsRefused = "datagrams_refused" // reports of an unreachable port that ended no exchange
	MeasureDatagramsStray   = "datagrams_stray"   // that no exchange asked for

	MeasurePacketsLost = "packets_lost" // of connections of QUIC, of those that the generator sent
	MeasureRTT         = "rtt"          // of each such connection, when it closes

	MeasureCommands        = "commands"         // of operations, that the kernel took
	MeasureHits            = "hits"             // values that commands read
	MeasureMisses          = "misses"           // and those that were missing
	MeasureRedirects       = "redirects"        // that operations followed
	MeasureReplicaCommands = "replica_commands" // of commands, that replicas got

	MeasureAckLatency   = "ack_latency"   // from a message to the acknowledgement of its stream
	MeasureDuplicates   = "duplicates"    // messages that a stream had already
	MeasureLateAnswers  = "late_answers"  // that no operation waited for any more
	MeasureReplyLatency = "reply_latency" // from a request to its reply
	MeasureServerErrors = "server_errors" // that no operation waited for

	MeasureAcks        = "acks"        // of messages that a consumer sent
	MeasureNaks        = "naks"        // the same: the message comes again
	MeasurePulls       = "pulls"       // requests for messages
	MeasureRedelivered = "redelivered" // messages that a consumer or a queue sent before
	MeasureTerms       = "terms"       // as acks: the message never comes again
	MeasureRecords     = "records"     // that brokers acknowledged, or a consumer read
	MeasureThrottled   = "throttled"   // answers that asked to wait

	MeasureBatches    = "batches"    // of records or documents, that a consumer or a cursor read, or a broker acknowledged
	MeasureRebalances = "rebalances" // of a consumer group, that gave a member its partitions

	MeasureConsumerLag = "consumer_lag" // records of a partition behind what a consumer was given

	MeasureEndToEnd      = "end_to_end"     // from a record's time, or a message's stamp, until a consumer has read it
	MeasureStampsUnknown = "stamps_unknown" // messages with a stamp of another machine

	MeasureConnectLatency = "connect_latency" // from a connection's first word to the server's welcome

	MeasureConfirmLatency = "confirm_latency" // from a message to its confirm
	MeasureReturned       = "returned"        // messages that no queue got
	MeasureUnconfirmed    = "unconfirmed"     // messages that the kernel took, and nothing confirms

	MeasureAuthTime     = "auth_time"     // from a connection's first byte to the end of authentication
	MeasureTransferred  = "transferred"   // bytes of files
	MeasureTransferTime = "transfer_time" // of one file
	MeasureDataConnect  = "data_connect"  // of a second connection, FTP's
	MeasureFirstByte    = "first_byte"    // of what comes on it

	MeasureRecipientsAccepted = "recipients_accepted" // of messages
	MeasureRecipientsRefused  = "recipients_refused"  // of messages, by what the server answers to each

	MeasureAffected  = "affected"  // rows or documents that statements or writes changed
	MeasureDocuments = "documents" // that cursors returned
	MeasureRows      = "rows"      // that statements returned

	MeasureTransactionTime = "transaction_time" // from BEGIN to the answer behind which the server has no transaction open
)

// The Protocol of a StepPlan: HTTP over TCP has none.
const (
	ProtocolAMQP      = "amqp"      // messages of queues
	ProtocolCustom    = "custom"    // calls of custom programs
	ProtocolFTP       = "ftp"       // files over FTP
	ProtocolGRPC      = "grpc"      // calls
	ProtocolHTTP3     = "http3"     // requests of HTTP over QUIC
	ProtocolKafka     = "kafka"     // records
	ProtocolMongoDB   = "mongodb"   // commands
	ProtocolMQTT      = "mqtt"      // messages
	ProtocolNATS      = "nats"      // messages
	ProtocolRedis     = "redis"     // commands
	ProtocolSFTP      = "sftp"      // files over SSH, by SFTP and SCP
	ProtocolSMTP      = "smtp"      // mail
	ProtocolSQL       = "sql"       // statements
	ProtocolSSE       = "sse"       // server-sent events
	ProtocolTCP       = "tcp"       // exchanges of bytes
	ProtocolUDP       = "udp"       // exchanges of datagrams
	ProtocolWebSocket = "websocket" // exchanges of messages
)

// Protocols lists them.
func Protocols() []string {
	return []string{ProtocolAMQP, ProtocolCustom, ProtocolFTP, ProtocolGRPC, ProtocolHTTP3, ProtocolKafka, ProtocolMongoDB, ProtocolMQTT, ProtocolNATS, ProtocolRedis, ProtocolSFTP, ProtocolSMTP, ProtocolSQL, ProtocolSSE, ProtocolTCP, ProtocolUDP, ProtocolWebSocket}
}

// MeasureText is a measure with the sentence that manuals show.
type MeasureText struct {
	Name      string
	Protocols []string // whose requests have it
	Kind      message.MeasureKind
	Text      string
}

// Measures lists the measures, by protocol.
func Measures() []MeasureText {
	redis, sql, sse, exchanges := []string{ProtocolRedis}, []string{ProtocolSQL}, []string{ProtocolSSE}, []string{ProtocolGRPC, ProtocolTCP, ProtocolUDP, ProtocolWebSocket}
	amqp, mqtt, nats := []string{ProtocolAMQP}, []string{ProtocolMQTT}, []string{ProtocolNATS}
	brokers := []string{ProtocolAMQP, ProtocolMQTT, ProtocolNATS}
	messages := append(slices.Clone(exchanges), brokers...)
	udp, sftp, mongodb := []string{ProtocolUDP}, []string{ProtocolSFTP}, []string{ProtocolMongoDB}
	quic := []string{ProtocolHTTP3, ProtocolSSE}
	ftp, files := []string{ProtocolFTP}, []string{ProtocolFTP, ProtocolSFTP}
	kafka, acknowledges, sends := []string{ProtocolKafka}, []string{ProtocolKafka, ProtocolMQTT, ProtocolNATS}, append(slices.Clone(messages), ProtocolKafka)
	return []MeasureText{
		{MeasureCommands, redis, message.MeasureCount, "commands that the kernel took whole, of pipelines each one"},
		{MeasureHits, redis, message.MeasureCount, "values that were there, of GET, GETDEL, GETEX, HGET, HMGET, LINDEX, MGET, ZMSCORE and ZSCORE"},
		{MeasureMisses, redis, message.MeasureCount, "values that were missing, of the same commands"},
		{MeasureRedirects, redis, message.MeasureCount, "answers MOVED and ASK of a cluster after which an operation was sent to the node that they name"},
		{MeasureReplicaCommands, redis, message.MeasureCount, "commands that the kernel took whole for replicas of a cluster: they count in commands, too"},
		{MeasureAffected, []string{ProtocolMongoDB, ProtocolSQL}, message.MeasureCount, "rows that statements inserted, updated, deleted or merged; documents that MongoDB inserted, changed or deleted"},
		{MeasureDocuments, mongodb, message.MeasureCount, "documents that mongodb.find and mongodb.aggregate read"},
		{MeasureRows, sql, message.MeasureCount, "rows that statements returned"},
		{MeasureTransactionTime, sql, message.MeasureTimes, "of vu.sql.begin: from when BEGIN was queued on the open connection until the loop has read the answer that ends the transaction, as of COMMIT or ROLLBACK, which counts it"},
		{MeasureFirstEvent, sse, message.MeasureTimes, "from the intended start until the loop has read the first event"},
		{MeasureEventGap, sse, message.MeasureTimes, "from one event of a stream to its next"},
		{MeasureEvents, sse, message.MeasureCount, "events, each with its blank line"},
		{MeasurePacketsLost, quic, message.MeasureCount, "packets of the generator that QUIC took for lost, as acknowledgements of later ones showed: they count when their connection closes, or the run ends, at the step whose request opened it. Those that a timeout gave up do not count"},
		{MeasureRTT, quic, message.MeasureTimes, "the smoothed round trip of a connection of QUIC, once for each, when it closes or the run ends, at the step whose request opened it"},
		{MeasureDatagramsDropped, udp, message.MeasureCount, "datagrams that came and that the kernel dropped: the socket's buffer was full, or a checksum wrong. They count when the socket closes"},
		{MeasureDatagramsLate, udp, message.MeasureCount, "datagrams that came when their exchange had timed out, until its user's next timeout"},
		{MeasureDatagramsLost, udp, message.MeasureCount, "datagrams that exchanges asked for and did not get in time"},
		{MeasureDatagramsRefused, udp, message.MeasureCount, "reports of an unreachable port that came when no exchange waited"},
		{MeasureDatagramsStray, udp, message.MeasureCount, "datagrams that no exchange asked for: doubled, of another question, or behind receive = 0"},
		{MeasureAckLatency, acknowledges, message.MeasureTimes, "from when a message was queued on the open connection until the loop has read what acknowledges it: JetStream has it, the replicas of a partition that acks asks for, or of QoS 1 and 2 an MQTT server"},
		{MeasureConnectLatency, mqtt, message.MeasureTimes, "from when CONNECT was queued, behind TCP and TLS, until the loop has read CONNACK"},
		{MeasureDuplicates, []string{ProtocolMQTT, ProtocolNATS}, message.MeasureCount, "messages that JetStream acknowledged and dropped, as it had one with their id; of a subscription of MQTT those that say that they are sent again"},
		{MeasureConfirmLatency, amqp, message.MeasureTimes, "from when a message was queued on the open connection until the loop has read its confirm"},
		{MeasureReturned, amqp, message.MeasureCount, "messages that the server returned, as no queue got them"},
		{MeasureUnconfirmed, amqp, message.MeasureCount, "messages that the kernel took whole and that nothing confirms: the server may have dropped them"},
		{MeasureLateAnswers, append(slices.Clone(brokers), ProtocolCustom, ProtocolKafka), message.MeasureCount, "answers that came when their operation had timed out, or had one; of kafka.produce with linger records that a broker acknowledged then"},
		{MeasureReplyLatency, nats, message.MeasureTimes, "from when a request was queued on the open connection until the loop has read its reply"},
		{MeasureServerErrors, []string{ProtocolAMQP, ProtocolNATS}, message.MeasureCount, "errors that the server told and no operation waited for, as of a publication that nothing confirms"},
		{MeasureAcks, nats, message.MeasureCount, "acknowledgements of a consumer's messages that the kernel took whole"},
		{MeasureNaks, nats, message.MeasureCount, "the same of those that want the message again"},
		{MeasureTerms, nats, message.MeasureCount, "the same of those that never want it again"},
		{MeasurePulls, nats, message.MeasureCount, "requests for a consumer's messages that the kernel took whole"},
		{MeasureRedelivered, []string{ProtocolAMQP, ProtocolNATS}, message.MeasureCount, "messages that came and that their consumer or queue had sent before: they count in messages_received, too"},
		{MeasureRecords, kafka, message.MeasureCount, "records that brokers acknowledged; of kafka.consume those that it read"},
		{MeasureBatches, []string{ProtocolKafka, ProtocolMongoDB}, message.MeasureCount, "batches of records that kafka.consume read; of kafka.produce with linger those that brokers acknowledged, each at the step of its first record; of MongoDB those in which a cursor's documents came, each one the answer to a command"},
		{MeasureConsumerLag, kafka, message.MeasureAmounts, "records that a partition had behind what an answer gave to read: its high watermark less the next offset, at each answer for each partition"},
		{MeasureRebalances, kafka, message.MeasureCount, "rebalances of consumer groups: how often a core was given its partitions, the first time included"},
		{MeasureEndToEnd, append(slices.Clone(brokers), ProtocolKafka), message.MeasureTimes, "from when a message with stamp = True was queued, by the clock of this machine, until the loop has read it; of kafka.consume from a record's time, which its producer or broker wrote by a clock of its own, in whole milliseconds"},
		{MeasureStampsUnknown, brokers, message.MeasureCount, "messages that came with a stamp of another machine, or of a kernel that has started anew since: they have no end_to_end"},
		{MeasureThrottled, kafka, message.MeasureCount, "answers in which a broker asked its client to wait: a quota is exceeded. The load does not wait"},
		{MeasureAuthTime, sftp, message.MeasureTimes, "from when a connection stands until its keys are exchanged and its user is authenticated, and for SFTP its subsystem is open: a part of the phase connect"},
		{MeasureDataConnect, ftp, message.MeasureTimes, "from when the server has named a port until the data connection to it stands, without its TLS"},
		{MeasureFirstByte, ftp, message.MeasureTimes, "of ftp.get and ftp.list: from when the command was queued, on the standing data connection, until the loop has read the first byte there"},
		{MeasureTransferred, files, message.MeasureCount, "bytes of files that came, or that the server acknowledged"},
		{MeasureTransferTime, files, message.MeasureTimes, "from when a file is open until its last byte has come, or is acknowledged; of FTP from when the command was queued until the server says that the transfer is complete. Transferred divided by the sum of these is the rate of one transfer"},
		{MeasureRecipientsAccepted, []string{ProtocolSMTP}, message.MeasureCount, "recipients that the server took, of messages that it refused as well"},
		{MeasureRecipientsRefused, []string{ProtocolSMTP}, message.MeasureCount, "recipients that the server refused: a message fails only if it has no other"},
		{MeasureFirstMessage, messages, message.MeasureTimes, "from the intended start until the loop has read the first message"},
		{MeasureMessageLatency, exchanges, message.MeasureTimes, "from when the exchange's messages were queued on the open connection, of a streaming call from when its request was, in a session from the oldest one without an answer, until the loop has read a message"},
		{MeasureMessagesReceived, messages, message.MeasureCount, "messages that came whole"},
		{MeasureMessagesSent, sends, message.MeasureCount, "messages that the kernel took whole"},
		{MeasurePingLatency, append([]string{ProtocolWebSocket}, brokers...), message.MeasureTimes, "from a session's ping until the loop has read its answer"},
	}
}

// MeasureCustom begins the names of measures that custom programs have: a program names them, so they are
// no part of the list.
const MeasureCustom = "custom_"

// MeasureOf returns the measure with that name; its kind is message.MeasureNone if there is none.
func MeasureOf(name string) (m MeasureText) {
	if own, is := strings.CutPrefix(name, MeasureCustom); is && own != "" {
		return MeasureText{name, []string{ProtocolCustom}, message.MeasureCount, "what a custom program counts as " + own}
	}
	for _, known := range Measures() {
		if known.Name == name {
			return known
		}
	}
	return m
}
