// Kafka runs a cluster of kfake brokers, of the author of franz-go, as a test double: nothing of it enters
// the product. It prints the brokers' addresses in one line, and then obeys the lines of its input:
//
//	end TOPIC                   prints the sum of the topic's log end offsets
//	parts TOPIC                 prints the log end offset of each partition
//	move TOPIC PARTITION BROKER gives a partition another leader
//	leader TOPIC PARTITION      prints which broker leads it
//	committed GROUP TOPIC       prints the sum of what the group has committed
//	members GROUP               prints how many members it has
//	coordinator GROUP           prints which broker coordinates it
//	rehash GROUP                gives it another one, and others to other groups, and prints it
//	stop BROKER                 ends a broker
//	fault KEY CODE COUNT        fails so many requests of an API by a code; below 0: all of them
//	evict                       takes the member that commits next out of its group before that
//	slow KEY MILLIS             answers the next request of an API so much later
//
// It ends with its input.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func main() {
	brokers := flag.Int("brokers", 1, "how many")
	topics := flag.String("topics", "orders:3", "NAME:PARTITIONS, with commas between them")
	token := flag.String("token", "", "what OAUTHBEARER takes; none: no such users")
	users := flag.String("users", "", "MECHANISM:USER:PASSWORD, with commas between them; none: no SASL")
	certificate := flag.String("cert", "", "FILE with a certificate; none: no TLS")
	key := flag.String("key", "", "FILE with its key")
	blackhole := flag.Bool("blackhole", false, "count records, and keep none")
	port := flag.Int("port", 0, "of the only broker; 0: any")
	flag.Parse()
	if err := serve(*brokers, *port, *topics, *users, *certificate, *key, *token, *blackhole); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(brokers, port int, topics, users, certificate, key, token string, blackhole bool) error {
	opts := []kfake.Opt{kfake.NumBrokers(brokers)}
	if port != 0 {
		opts = append(opts, kfake.Ports(port))
	}
	if blackhole {
		opts = append(opts, kfake.BlackholeProduce())
	}
	for _, t := range strings.Split(topics, ",") {
		name, count, _ := strings.Cut(t, ":")
		n, err := strconv.Atoi(count)
		if err != nil {
			return err
		}
		opts = append(opts, kfake.SeedTopics(int32(n), name))
	}
	if users != "" {
		opts = append(opts, kfake.EnableSASL())
		for _, u := range strings.Split(users, ",") {
			parts := strings.SplitN(u, ":", 3)
			if len(parts) != 3 {
				return fmt.Errorf("%q is no MECHANISM:USER:PASSWORD", u)
			}
			opts = append(opts, kfake.Superuser(parts[0], parts[1], parts[2]))
		}
	}
	if certificate != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return err
		}
		opts = append(opts, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{pair}}))
	}
	c, err := kfake.NewCluster(opts...)
	if err != nil {
		return err
	}
	defer c.Close()
	if token != "" {
		bear(c, token)
	}
	fmt.Println(strings.Join(c.ListenAddrs(), " "))
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if err := obey(c, strings.Fields(in.Text())); err != nil {
			return fmt.Errorf("%q: %w", in.Text(), err)
		}
	}
	return nil
}

// bear answers SASL as a broker does that takes one token (RFC 7628): kfake knows no OAUTHBEARER.
func bear(c *kfake.Cluster, token string) {
	c.ControlKey(int16(kmsg.SASLHandshake), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		asked, answer := r.(*kmsg.SASLHandshakeRequest), r.ResponseKind().(*kmsg.SASLHandshakeResponse)
		answer.SupportedMechanisms = []string{"OAUTHBEARER"}
		if asked.Mechanism != "OAUTHBEARER" {
			answer.ErrorCode = kerr.UnsupportedSaslMechanism.Code
		}
		return answer, nil, true
	})
	c.ControlKey(int16(kmsg.SASLAuthenticate), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		answer := r.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		switch string(r.(*kmsg.SASLAuthenticateRequest).SASLAuthBytes) {
		case "n,,\x01auth=Bearer " + token + "\x01\x01":
		case "\x01":
			answer.ErrorCode = kerr.SaslAuthenticationFailed.Code
		default:
			answer.SASLAuthBytes = []byte(`{"status":"invalid_token"}`)
		}
		return answer, nil, true
	})
}

// ask has a client of franz-go ask the cluster.
func ask[R kmsg.Response](c *kfake.Cluster, r kmsg.Request) (answer R, err error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	if err != nil {
		return answer, err
	}
	defer client.Close()
	got, err := client.Request(context.Background(), r)
	if err != nil {
		return answer, err
	}
	return got.(R), nil
}

func committed(c *kfake.Cluster, group, topic string) error {
	r := kmsg.NewPtrOffsetFetchRequest()
	r.Group = group
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = group
	r.Groups = append(r.Groups, g)
	answer, err := ask[*kmsg.OffsetFetchResponse](c, r)
	if err != nil {
		return err
	}
	sum := int64(0)
	for _, g := range answer.Groups {
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				if t.Topic == topic && p.Offset > 0 {
					sum += p.Offset
				}
			}
		}
	}
	fmt.Println(sum)
	return nil
}

func members(c *kfake.Cluster, group string) error {
	r := kmsg.NewPtrDescribeGroupsRequest()
	r.Groups = []string{group}
	answer, err := ask[*kmsg.DescribeGroupsResponse](c, r)
	if err != nil {
		return err
	}
	n := 0
	for _, g := range answer.Groups {
		n += len(g.Members)
	}
	fmt.Println(n)
	return nil
}

// evict takes the member that commits next out of its group, as a session that lapses does, and says so.
func evict(c *kfake.Cluster) {
	c.ControlKey(int16(kmsg.OffsetCommit), func(r kmsg.Request) (kmsg.Response, error, bool) {
		commit, answer := r.(*kmsg.OffsetCommitRequest), r.ResponseKind().(*kmsg.OffsetCommitResponse)
		leave, m := kmsg.NewPtrLeaveGroupRequest(), kmsg.NewLeaveGroupRequestMember()
		m.MemberID = commit.MemberID
		leave.Group, leave.Members = commit.Group, append(leave.Members, m)
		var err error
		c.SleepControl(func() { _, err = ask[*kmsg.LeaveGroupResponse](c, leave) })
		for _, t := range commit.Topics {
			topic := kmsg.NewOffsetCommitResponseTopic()
			topic.Topic = t.Topic
			for _, p := range t.Partitions {
				partition := kmsg.NewOffsetCommitResponseTopicPartition()
				partition.Partition, partition.ErrorCode = p.Partition, kerr.UnknownMemberID.Code
				topic.Partitions = append(topic.Partitions, partition)
			}
			answer.Topics = append(answer.Topics, topic)
		}
		return answer, err, true
	})
}

func obey(c *kfake.Cluster, words []string) error {
	number := func(i int) int {
		n, _ := strconv.Atoi(words[i])
		return n
	}
	switch words[0] {
	case "end":
		sum := int64(0)
		for _, p := range c.PartitionInfos(words[1]) {
			sum += p.HighWatermark
		}
		fmt.Println(sum)
	case "parts":
		var all []string
		for p := int32(0); ; p++ {
			i := c.PartitionInfo(words[1], p)
			if i == nil {
				break
			}
			all = append(all, strconv.FormatInt(i.HighWatermark, 10))
		}
		fmt.Println(strings.Join(all, " "))
	case "move":
		if err := c.MoveTopicPartition(words[1], int32(number(2)), int32(number(3))); err != nil {
			return err
		}
		fmt.Println("ok")
	case "leader":
		fmt.Println(c.LeaderFor(words[1], int32(number(2))))
	case "committed":
		return committed(c, words[1], words[2])
	case "members":
		return members(c, words[1])
	case "coordinator":
		fmt.Println(c.CoordinatorFor(words[1]))
	case "rehash":
		was := c.CoordinatorFor(words[1])
		for len(c.ListenAddrs()) > 1 && c.CoordinatorFor(words[1]) == was { // it draws by a hash
			c.RehashCoordinators()
		}
		fmt.Println(c.CoordinatorFor(words[1]))
	case "stop":
		if err := c.RemoveNode(int32(number(1))); err != nil {
			return err
		}
		fmt.Println("ok")
	case "fault":
		e, _ := kerr.ErrorForCode(int16(number(2))).(*kerr.Error)
		c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Key(number(1))}, Err: e, Count: number(3)})
		fmt.Println("ok")
	case "evict":
		evict(c)
		fmt.Println("ok")
	case "slow":
		wait := time.Duration(number(2)) * time.Millisecond
		c.ControlKey(int16(number(1)), func(kmsg.Request) (kmsg.Response, error, bool) {
			c.SleepControl(func() { time.Sleep(wait) })
			return nil, nil, false
		})
		fmt.Println("ok")
	default:
		return fmt.Errorf("it is no command")
	}
	return nil
}
