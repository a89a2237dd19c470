package codec_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"hyperscale/runtime/protocol/amqp"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/ftp"
	"hyperscale/runtime/protocol/kafka"
	"hyperscale/runtime/protocol/mongodb"
	"hyperscale/runtime/protocol/mqtt"
	"hyperscale/runtime/protocol/mysql"
	"hyperscale/runtime/protocol/nats"
	"hyperscale/runtime/protocol/postgres"
	"hyperscale/runtime/protocol/redis"
	"hyperscale/runtime/protocol/smtp"
	"hyperscale/runtime/redact"
)

// told is the password of each greeting. No message has two of its letters in a row.
const told = "QXZJKVWY"

// teller is a codec with a server that refuses it by a text.
type teller struct {
	greet  func() (codec.Greeting, error)
	refuse func(text string) []string // what the server sends, one message each
}

var tellers = map[string]teller{
	"amqp": {
		greet: func() (codec.Greeting, error) {
			p, err := amqp.New(amqp.Config{User: "app", Password: told})
			return p.Greet(), err
		},
		refuse: func(text string) []string { // a refusal has 255 bytes; a list of mechanisms has more
			b := "\x00\x0a\x00\x0a\x00\x09" + long(0) + long(len(text)) + text + long(5) + "en_US"
			return []string{"\x01\x00\x00" + long(len(b)) + b + "\xce"}
		},
	},
	"ftp": {
		greet: func() (codec.Greeting, error) {
			p, err := ftp.New(ftp.Config{User: "app", Password: told})
			return p.Greet(), err
		},
		refuse: func(text string) []string { return []string{"220 hi\r\n", "331 go on\r\n", "530 " + text + "\r\n"} },
	},
	"kafka": {
		greet: func() (codec.Greeting, error) {
			return kafka.New(kafka.Config{Mechanism: kafka.PLAIN, User: "app", Password: told}).Greet(kafka.Random{}), nil
		},
		refuse: func(text string) []string {
			sized := func(b string) string { return long(len(b)) + b }
			return []string{
				sized(long(1) + short(0) + long(2) + short(0) + short(0) + short(12) + short(3) + short(0) + short(13)),
				sized(long(2) + short(0) + long(1) + short(5) + "PLAIN"),
				sized(long(3) + short(58) + short(len(text)) + text + long(0)),
			}
		},
	},
	"mongodb": {
		greet: func() (codec.Greeting, error) {
			return mongodb.New(mongodb.Config{Mechanism: mongodb.SCRAMSHA256, User: "app", Password: told}).Greet(mongodb.Random{}), nil
		},
		refuse: func(text string) []string {
			message := func(to byte, fields string) string {
				document := little(len(fields)+5) + fields + "\x00"
				return little(21+len(document)) + little(1) + little(int(to)) + little(2013) + little(0) + "\x00" + document
			}
			return []string{
				message(1, "\x10ok\x00"+little(1)+"\x08isWritablePrimary\x00\x01\x10maxWireVersion\x00"+little(21)),
				message(2, "\x10ok\x00"+little(0)+"\x10code\x00"+little(18)+"\x02errmsg\x00"+little(len(text)+1)+text+"\x00"),
			}
		},
	},
	"mqtt": {
		greet: func() (codec.Greeting, error) {
			p, err := mqtt.New(mqtt.Config{Version: mqtt.Version5, User: "app", Password: told})
			return p.Greet("c", nil), err
		},
		refuse: func(text string) []string {
			properties := "\x1f" + short(len(text)) + text
			body := "\x00\x86" + variable(len(properties)) + properties
			return []string{"\x20" + variable(len(body)) + body}
		},
	},
	"mysql": {
		greet: func() (codec.Greeting, error) {
			return mysql.New(mysql.Config{User: "app", Password: told}).Greet(), nil
		},
		refuse: func(text string) []string {
			body := "\xff\x15\x04#28000" + text
			return []string{little(len(body))[:3] + "\x00" + body}
		},
	},
	"nats": {
		greet: func() (codec.Greeting, error) {
			p, err := nats.New(nats.Config{User: "app", Password: told})
			return p.Greet(nats.Random{}), err
		},
		refuse: func(text string) []string { return []string{"INFO {}\r\n", "-ERR '" + text + "'\r\n"} },
	},
	"nats in a line of its own": {
		greet: func() (codec.Greeting, error) {
			p, err := nats.New(nats.Config{User: "app", Password: told})
			return p.Greet(nats.Random{}), err
		},
		refuse: func(text string) []string { return []string{"INFO {}\r\n", "MSG " + text + "\r\n"} },
	},
	"postgres": {
		greet: func() (codec.Greeting, error) {
			return postgres.New(postgres.Config{User: "app", Password: told}).Greet([18]byte{}), nil
		},
		refuse: func(text string) []string {
			body := "SFATAL\x00C28P01\x00M" + text + "\x00D" + text + "\x00\x00"
			return []string{"E" + long(len(body)+4) + body}
		},
	},
	"redis": {
		greet: func() (codec.Greeting, error) {
			return redis.New(redis.Config{User: "app", Password: told}).Greet(), nil
		},
		refuse: func(text string) []string { return []string{"-WRONGPASS " + text + "\r\n"} },
	},
	"redis without a form": {
		greet: func() (codec.Greeting, error) {
			return redis.New(redis.Config{User: "app", Password: told}).Greet(), nil
		},
		refuse: func(text string) []string { return []string{":" + text + "\r\n"} },
	},
	"smtp": {
		greet: func() (codec.Greeting, error) {
			p, err := smtp.New(smtp.Config{Secure: true, Mechanism: smtp.MechanismPlain, User: "app", Secret: told})
			return p.Greet(), err
		},
		refuse: func(text string) []string {
			return []string{"220 hi\r\n", "250-hi\r\n250 AUTH PLAIN\r\n", "535 " + text + "\r\n"}
		},
	},
}

func long(n int) string  { return string(binary.BigEndian.AppendUint32(nil, uint32(n))) }
func short(n int) string { return string(binary.BigEndian.AppendUint16(nil, uint16(n))) }

func little(n int) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }

func variable(n int) string { return string(binary.AppendUvarint(nil, uint64(n))) }

// TestErrorsHideBeforeTheyClip: a server repeats the password, and no error has a part of it, wherever the text is
// clipped.
func TestErrorsHideBeforeTheyClip(t *testing.T) {
	for name, of := range tellers {
		t.Run(name, func(t *testing.T) {
			for _, edge := range []int{0, 40, 60, 80, 200, 255, 256, redact.TextMost} {
				for before := max(0, edge-len(told)-14); before <= edge; before++ {
					g, err := of.greet()
					if err != nil {
						t.Fatal(err)
					}
					err = hears(g, of.refuse(strings.Repeat("-", before)+told+strings.Repeat("-", 2000)))
					switch text := fmt.Sprint(err); {
					case !strings.Contains(text, redact.Hidden) && !strings.Contains(text, "--") && !strings.Contains(text, "repeats the password"):
						t.Fatalf("%d bytes before the password: %s, want what the server says", before, text)
					case strings.Contains(text, told[:2]) || strings.Contains(text, "-"+told[:1]):
						t.Fatalf("%d bytes before the password: %s has a part of it", before, text)
					}
				}
			}
		})
	}
}

// hears gives a greeting what a server says, until it ends.
func hears(g codec.Greeting, says []string) error {
	g.Begin(nil)
	for _, one := range says {
		_, _, _, err := g.Hear(nil, []byte(one))
		if err != nil {
			return err
		}
	}
	return nil
}
