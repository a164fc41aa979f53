// The franz-go client: writes and reads the records of test/compat (see its README).
package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"hash"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

type row struct {
	P int32       `json:"p"`
	K *string     `json:"k"`
	V *string     `json:"v"`
	H [][]*string `json:"h"`
	T int64       `json:"t"`
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func raw(text *string) []byte {
	if text == nil {
		return nil
	}
	b, err := base64.StdEncoding.DecodeString(*text)
	check(err)
	if b == nil {
		b = []byte{}
	}
	return b
}

func numbers(text string) []int64 {
	var out []int64
	for _, part := range strings.Split(text, ",") {
		if part == "" {
			continue
		}
		n, err := strconv.ParseInt(part, 10, 64)
		check(err)
		out = append(out, n)
	}
	return out
}

func put(sum hash.Hash, b []byte) {
	if b == nil {
		sum.Write([]byte{255, 255, 255, 255})
		return
	}
	sum.Write(binary.BigEndian.AppendUint32(nil, uint32(len(b))))
	sum.Write(b)
}

func main() {
	action := os.Args[1]
	set := flag.NewFlagSet(action, flag.ExitOnError)
	bootstrap := set.String("bootstrap", "", "")
	topic := set.String("topic", "", "")
	file := set.String("records", "", "")
	codec := set.String("codec", "none", "")
	acks := set.String("acks", "all", "")
	idempotent := set.Bool("idempotent", false, "")
	group := set.String("group", "", "")
	counts := set.String("counts", "", "")
	start := set.String("start", "", "")
	timestamp := set.Int64("timestamp", 0, "")
	partition := set.Int("partition", 0, "")
	check(set.Parse(os.Args[2:]))
	ctx, cancel := context.WithTimeout(context.Background(), 120*time.Second)
	defer cancel()
	switch action {
	case "produce":
		options := []kgo.Opt{kgo.SeedBrokers(*bootstrap), kgo.DefaultProduceTopic(*topic), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(5 * time.Millisecond)}
		options = append(options, kgo.ProducerBatchCompression(map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
			"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}[*codec]))
		options = append(options, kgo.RequiredAcks(map[string]kgo.Acks{"all": kgo.AllISRAcks(), "1": kgo.LeaderAck(), "0": kgo.NoAck()}[*acks]))
		if !*idempotent {
			options = append(options, kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(1))
		}
		client, err := kgo.NewClient(options...)
		check(err)
		in, err := os.Open(*file)
		check(err)
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var r row
			check(json.Unmarshal(lines.Bytes(), &r))
			record := &kgo.Record{Partition: r.P, Key: raw(r.K), Value: raw(r.V), Timestamp: time.UnixMilli(r.T)}
			for _, h := range r.H {
				record.Headers = append(record.Headers, kgo.RecordHeader{Key: *h[0], Value: raw(h[1])})
			}
			client.Produce(ctx, record, func(_ *kgo.Record, err error) { check(err) })
		}
		check(client.Flush(ctx))
		client.Close()
	case "time":
		client, err := kgo.NewClient(kgo.SeedBrokers(*bootstrap))
		check(err)
		request := kmsg.NewPtrListOffsetsRequest()
		request.ReplicaID = -1
		t := kmsg.NewListOffsetsRequestTopic()
		t.Topic = *topic
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = int32(*partition), *timestamp
		t.Partitions = append(t.Partitions, p)
		request.Topics = append(request.Topics, t)
		answer, err := request.RequestWith(ctx, client)
		check(err)
		fmt.Println(answer.Topics[0].Partitions[0].Offset)
		client.Close()
	case "consume":
		want := numbers(*counts)
		starts := numbers(*start)
		options := []kgo.Opt{kgo.SeedBrokers(*bootstrap)}
		if *group != "" {
			options = append(options, kgo.ConsumerGroup(*group), kgo.ConsumeTopics(*topic), kgo.DisableAutoCommit(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
		} else {
			assigned := map[int32]kgo.Offset{}
			for p := range want {
				at := int64(0)
				if len(starts) > 0 {
					at = starts[p]
				}
				assigned[int32(p)] = kgo.NewOffset().At(at)
			}
			options = append(options, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{*topic: assigned}))
		}
		client, err := kgo.NewClient(options...)
		check(err)
		sums := make([]hash.Hash, len(want))
		got := make([]int64, len(want))
		total, have := int64(0), int64(0)
		for p := range want {
			sums[p] = sha256.New()
			total += want[p]
		}
		for have < total {
			fetches := client.PollFetches(ctx)
			check(fetches.Err0())
			fetches.EachError(func(_ string, _ int32, err error) { check(err) })
			fetches.EachRecord(func(r *kgo.Record) {
				sum := sums[r.Partition]
				sum.Write(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(r.Offset)), uint64(r.Timestamp.UnixMilli())))
				put(sum, r.Key)
				put(sum, r.Value)
				sum.Write(binary.BigEndian.AppendUint32(nil, uint32(len(r.Headers))))
				for _, h := range r.Headers {
					put(sum, []byte(h.Key))
					put(sum, h.Value)
				}
				got[r.Partition]++
				have++
			})
		}
		if *group != "" {
			check(client.CommitUncommittedOffsets(ctx))
		}
		client.Close()
		for p := range want {
			fmt.Printf("%d %d %x\n", p, got[p], sums[p].Sum(nil))
		}
	}
}
