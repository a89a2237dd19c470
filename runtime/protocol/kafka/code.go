package kafka

import (
	"fmt"
	"strconv"
	"strings"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/redact"
)

// codes are the names of errors, by number from 0. Brokers of later versions have more.
const codes = `NONE OFFSET_OUT_OF_RANGE CORRUPT_MESSAGE UNKNOWN_TOPIC_OR_PARTITION INVALID_FETCH_SIZE
LEADER_NOT_AVAILABLE NOT_LEADER_OR_FOLLOWER REQUEST_TIMED_OUT BROKER_NOT_AVAILABLE REPLICA_NOT_AVAILABLE
MESSAGE_TOO_LARGE STALE_CONTROLLER_EPOCH OFFSET_METADATA_TOO_LARGE NETWORK_EXCEPTION
COORDINATOR_LOAD_IN_PROGRESS COORDINATOR_NOT_AVAILABLE NOT_COORDINATOR INVALID_TOPIC_EXCEPTION
RECORD_LIST_TOO_LARGE NOT_ENOUGH_REPLICAS NOT_ENOUGH_REPLICAS_AFTER_APPEND INVALID_REQUIRED_ACKS
ILLEGAL_GENERATION INCONSISTENT_GROUP_PROTOCOL INVALID_GROUP_ID UNKNOWN_MEMBER_ID INVALID_SESSION_TIMEOUT
REBALANCE_IN_PROGRESS INVALID_COMMIT_OFFSET_SIZE TOPIC_AUTHORIZATION_FAILED GROUP_AUTHORIZATION_FAILED
CLUSTER_AUTHORIZATION_FAILED INVALID_TIMESTAMP UNSUPPORTED_SASL_MECHANISM ILLEGAL_SASL_STATE
UNSUPPORTED_VERSION TOPIC_ALREADY_EXISTS INVALID_PARTITIONS INVALID_REPLICATION_FACTOR
INVALID_REPLICA_ASSIGNMENT INVALID_CONFIG NOT_CONTROLLER INVALID_REQUEST UNSUPPORTED_FOR_MESSAGE_FORMAT
POLICY_VIOLATION OUT_OF_ORDER_SEQUENCE_NUMBER DUPLICATE_SEQUENCE_NUMBER INVALID_PRODUCER_EPOCH
INVALID_TXN_STATE INVALID_PRODUCER_ID_MAPPING INVALID_TRANSACTION_TIMEOUT CONCURRENT_TRANSACTIONS
TRANSACTION_COORDINATOR_FENCED TRANSACTIONAL_ID_AUTHORIZATION_FAILED SECURITY_DISABLED
OPERATION_NOT_ATTEMPTED KAFKA_STORAGE_ERROR LOG_DIR_NOT_FOUND SASL_AUTHENTICATION_FAILED
UNKNOWN_PRODUCER_ID REASSIGNMENT_IN_PROGRESS DELEGATION_TOKEN_AUTH_DISABLED DELEGATION_TOKEN_NOT_FOUND
DELEGATION_TOKEN_OWNER_MISMATCH DELEGATION_TOKEN_REQUEST_NOT_ALLOWED DELEGATION_TOKEN_AUTHORIZATION_FAILED
DELEGATION_TOKEN_EXPIRED INVALID_PRINCIPAL_TYPE NON_EMPTY_GROUP GROUP_ID_NOT_FOUND
FETCH_SESSION_ID_NOT_FOUND INVALID_FETCH_SESSION_EPOCH LISTENER_NOT_FOUND TOPIC_DELETION_DISABLED
FENCED_LEADER_EPOCH UNKNOWN_LEADER_EPOCH UNSUPPORTED_COMPRESSION_TYPE STALE_BROKER_EPOCH
OFFSET_NOT_AVAILABLE MEMBER_ID_REQUIRED PREFERRED_LEADER_NOT_AVAILABLE GROUP_MAX_SIZE_REACHED
FENCED_INSTANCE_ID ELIGIBLE_LEADERS_NOT_AVAILABLE ELECTION_NOT_NEEDED NO_REASSIGNMENT_IN_PROGRESS
GROUP_SUBSCRIBED_TO_TOPIC INVALID_RECORD UNSTABLE_OFFSET_COMMIT THROTTLING_QUOTA_EXCEEDED PRODUCER_FENCED`

// codeNames are those of codes, by number.
var codeNames = strings.Fields(codes)

// CodeOf returns Kafka's name of an error.
func CodeOf(number int16) string {
	switch {
	case number == -1:
		return "UNKNOWN_SERVER_ERROR"
	case number >= 0 && int(number) < len(codeNames):
		return codeNames[number]
	}
	return "ERROR_" + strconv.Itoa(int(number))
}

// moved reports whether an error says that what is known of the cluster is old.
func moved(number int16) bool {
	switch CodeOf(number) {
	case "UNKNOWN_TOPIC_OR_PARTITION", "LEADER_NOT_AVAILABLE", "NOT_LEADER_OR_FOLLOWER", "BROKER_NOT_AVAILABLE", "REPLICA_NOT_AVAILABLE", "KAFKA_STORAGE_ERROR", "FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH":
		return true
	}
	return false
}

// remedy says what helps against an error; empty: its name says it.
func remedy(number int16) string {
	switch CodeOf(number) {
	case "UNKNOWN_TOPIC_OR_PARTITION":
		return "create the topic: a test makes none"
	case "MESSAGE_TOO_LARGE":
		return "send less, or raise max.message.bytes of the topic"
	case "NOT_LEADER_OR_FOLLOWER":
		return "the leader has moved, and the next operation asks where it is"
	case "NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS":
		return "the group's coordinator has moved, and the next operation asks where it is"
	case "ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID", "REBALANCE_IN_PROGRESS":
		return "the group goes on without this member, and the next operation joins it again"
	case "INCONSISTENT_GROUP_PROTOCOL":
		return "the other members of the group assign otherwise: write assignor as theirs"
	case "TOPIC_AUTHORIZATION_FAILED":
		return "the user may not do this with the topic"
	case "NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND":
		return "fewer replicas are in sync than min.insync.replicas asks for"
	}
	return ""
}

// serverError is an error that a broker told, without secrets; nil: it told none.
func serverError(number int16, text []byte, secrets ...string) *http1.Error {
	if number == 0 {
		return nil
	}
	name := CodeOf(number)
	detail := fmt.Sprintf("the broker answered %s (%d)", name, number)
	if len(text) > 0 {
		detail += ": " + redact.Excerpt(string(text), redact.TextMost, secrets...)
	}
	if r := remedy(number); r != "" {
		detail += ": " + r
	}
	return &http1.Error{Kind: http1.Kind("server " + name), Detail: detail}
}

func breach(format string, values ...any) *http1.Error {
	return &http1.Error{Kind: http1.KindProtocol, Detail: fmt.Sprintf(format, values...)}
}

var (
	errNoBroker     = breach("what came is no answer to ApiVersions: is this a Kafka broker, and does the scheme fit (kafka:// or kafkas://)?")
	errSize         = breach("an answer says that it has fewer than four bytes")
	errEarly        = breach("the broker answered before all of the request was sent")
	errUnasked      = breach("an answer came, and nothing had been asked")
	errNoPartitions = breach("the broker tells of a topic without partitions")
	errSilent       = &http1.Error{Kind: http1.KindClosed, Detail: "the broker closed the connection before it answered"}
	errCut          = &http1.Error{Kind: http1.KindTruncated, Detail: "the connection was closed in the middle of an answer"}
	errOver         = &http1.Error{Kind: http1.KindClosed, Detail: "the connection is over: nothing more can be sent"}
	errZstd         = &http1.Error{Kind: http1.KindValue, Detail: "compression: the broker takes no zstd, which Kafka has since 2.1: write \"gzip\""}
)

func errNumber(got, want int32) *http1.Error {
	return breach("an answer has the number %d, and that of request %d comes next", got, want)
}

func errShort(a api) *http1.Error {
	return breach("an answer to %s does not have what it says", a)
}

func errLarge(size, most int64) *http1.Error {
	return &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("an answer says that it has %d bytes, and %d are taken: raise max_body", size, most)}
}

// errMany is the error of a cluster that is larger than what is taken.
func errMany(n int, of string, most int) *http1.Error {
	return breach("an answer to Metadata tells of %d %s, and %d are taken", n, of, most)
}

// Told is the error of a broker with that number.
func Told(number int16) *http1.Error { return serverError(number, nil) }

// errVersion is the error of a request that both sides have no version of.
func errVersion(a api) *http1.Error {
	own := ours(a)
	return breach("the broker speaks none of the versions %d to %d of %s: brokers from Kafka 1.0 on do", own.low, own.high, a)
}
