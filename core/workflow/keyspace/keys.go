package keyspace

import (
	"strconv"
	"strings"
)

// span is where the keys of a command stand: from a word, to a word (below 0: counted from the end),
// each so many words.
type span struct{ first, last, step int }

// spanOf returns where the keys of a command stand, if they stand at the same places whatever its words are.
func spanOf(name string) (of span, ok bool) {
	switch name {
	case "ACL", "BGREWRITEAOF", "BGSAVE", "CLIENT", "CLUSTER", "COMMAND", "CONFIG", "DBSIZE", "DEBUG", "DISCARD", "ECHO", "EXEC", "FAILOVER",
		"FLUSHALL", "FLUSHDB", "FUNCTION", "INFO", "KEYS", "LASTSAVE", "LATENCY", "LOLWUT", "MODULE", "MULTI", "PING", "PUBLISH", "PUBSUB",
		"RANDOMKEY", "REPLICAOF", "ROLE", "SAVE", "SCAN", "SCRIPT", "SHUTDOWN", "SLAVEOF", "SLOWLOG", "TIME", "UNWATCH", "WAIT":
		return span{}, true
	case "BLPOP", "BRPOP", "BZPOPMAX", "BZPOPMIN":
		return span{1, -2, 1}, true
	case "DEL", "EXISTS", "MGET", "PFCOUNT", "PFMERGE", "SDIFF", "SDIFFSTORE", "SINTER", "SINTERSTORE", "SUNION", "SUNIONSTORE", "TOUCH", "UNLINK",
		"WATCH":
		return span{1, -1, 1}, true
	case "MSET", "MSETNX":
		return span{1, -1, 2}, true
	case "APPEND", "BITCOUNT", "BITFIELD", "BITFIELD_RO", "BITPOS", "DECR", "DECRBY", "DUMP", "EXPIRE", "EXPIREAT", "EXPIRETIME", "GEOADD",
		"GEODIST", "GEOHASH", "GEOPOS", "GEORADIUSBYMEMBER_RO", "GEORADIUS_RO", "GEOSEARCH", "GET", "GETBIT", "GETDEL", "GETEX", "GETRANGE",
		"GETSET", "HDEL", "HEXISTS", "HGET", "HGETALL", "HINCRBY", "HINCRBYFLOAT", "HKEYS", "HLEN", "HMGET", "HMSET", "HRANDFIELD", "HSCAN", "HSET",
		"HSETNX", "HSTRLEN", "HVALS", "INCR", "INCRBY", "INCRBYFLOAT", "LINDEX", "LINSERT", "LLEN", "LPOP", "LPOS", "LPUSH", "LPUSHX", "LRANGE",
		"LREM", "LSET", "LTRIM", "PERSIST", "PEXPIRE", "PEXPIREAT", "PEXPIRETIME", "PFADD", "PSETEX", "PTTL", "RESTORE", "RPOP", "RPUSH", "RPUSHX",
		"SADD", "SCARD", "SET", "SETBIT", "SETEX", "SETNX", "SETRANGE", "SISMEMBER", "SMEMBERS", "SMISMEMBER", "SPOP", "SPUBLISH", "SRANDMEMBER",
		"SREM", "SSCAN", "STRLEN", "SUBSTR", "TTL", "TYPE", "XACK", "XADD", "XAUTOCLAIM", "XCLAIM", "XDEL", "XLEN", "XPENDING", "XRANGE",
		"XREVRANGE", "XSETID", "XTRIM", "ZADD", "ZCARD", "ZCOUNT", "ZINCRBY", "ZLEXCOUNT", "ZMSCORE", "ZPOPMAX", "ZPOPMIN", "ZRANDMEMBER", "ZRANGE",
		"ZRANGEBYLEX", "ZRANGEBYSCORE", "ZRANK", "ZREM", "ZREMRANGEBYLEX", "ZREMRANGEBYRANK", "ZREMRANGEBYSCORE", "ZREVRANGE", "ZREVRANGEBYLEX",
		"ZREVRANGEBYSCORE", "ZREVRANK", "ZSCAN", "ZSCORE":
		return span{1, 1, 1}, true
	case "BLMOVE", "BRPOPLPUSH", "COPY", "GEOSEARCHSTORE", "LCS", "LMOVE", "RENAME", "RENAMENX", "RPOPLPUSH", "SMOVE", "ZRANGESTORE":
		return span{1, 2, 1}, true
	case "BITOP":
		return span{2, -1, 1}, true
	}
	return span{}, false
}

// countOf returns where a command says how many keys follow; 0: it says that nowhere.
func countOf(name string) int {
	switch name {
	case "LMPOP", "SINTERCARD", "ZDIFF", "ZINTER", "ZINTERCARD", "ZMPOP", "ZUNION":
		return 1
	case "BLMPOP", "BZMPOP", "EVAL", "EVALSHA", "EVALSHA_RO", "EVAL_RO", "FCALL", "FCALL_RO", "ZDIFFSTORE", "ZINTERSTORE", "ZUNIONSTORE":
		return 2
	}
	return 0
}

// Keys returns the places of the keys among the words of a command, ascending. Not known: the package
// does not know the command, or a word that says where its keys stand.
func Keys(words []string) (at []int, known bool) {
	name := strings.ToUpper(words[0])
	if s, ok := spanOf(name); ok {
		return s.keys(len(words)), true
	}
	if place := countOf(name); place > 0 {
		return countedKeys(name, place, words)
	}
	switch name {
	case "XGROUP", "XINFO", "OBJECT", "MEMORY":
		if len(words) > 2 {
			at = []int{2}
		}
		return at, true
	case "SORT", "SORT_RO", "GEORADIUS", "GEORADIUSBYMEMBER":
		return storedKeys(words), true
	case "XREAD", "XREADGROUP":
		return streamKeys(words)
	}
	return nil, false
}

// keys are the places in a command of so many words.
func (s span) keys(words int) (at []int) {
	last := s.last
	if last < 0 {
		last += words
	}
	if s.first == 0 {
		return nil
	}
	for i := s.first; i <= min(last, words-1); i += s.step {
		at = append(at, i)
	}
	return at
}

// countedKeys are the keys behind the number of them, and the one before it that a result is stored in.
func countedKeys(name string, place int, words []string) (at []int, known bool) {
	if len(words) <= place {
		return nil, true // the server refuses it
	}
	n, err := strconv.Atoi(words[place])
	if err != nil {
		return nil, false
	}
	n = min(n, len(words))
	if strings.HasSuffix(name, "STORE") {
		at = append(at, 1)
	}
	for i := place + 1; i <= place+n && i < len(words); i++ {
		at = append(at, i)
	}
	return at, true
}

// storedKeys are the first word, and the one behind STORE or STOREDIST.
func storedKeys(words []string) (at []int) {
	for i := 1; i < len(words); i++ {
		before := strings.ToUpper(words[i-1])
		if i == 1 || i > 2 && (before == "STORE" || before == "STOREDIST") {
			at = append(at, i)
		}
	}
	return at
}

// streamKeys are the first half of the words behind STREAMS.
func streamKeys(words []string) (at []int, known bool) {
	for i := 1; i < len(words); i++ {
		if strings.ToUpper(words[i]) != "STREAMS" {
			continue
		}
		for k := i + 1; k <= i+(len(words)-i-1)/2; k++ {
			at = append(at, k)
		}
		return at, true
	}
	return nil, false
}
