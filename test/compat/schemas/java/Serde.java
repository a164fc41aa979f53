// A Java Avro serde (Apicurio's, in Confluent's wire form) that keeps its schemas in a registry with Confluent's API:
// registers, produces and consumes.
// usage: java -cp "JARS/*" Serde.java BOOTSTRAP REGISTRY_URL RECORDS
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.apicurio.registry.resolver.client.RegistryClientFacade;
import io.apicurio.registry.resolver.client.RegistryVersionCoordinates;
import io.apicurio.registry.serde.avro.AvroKafkaDeserializer;
import io.apicurio.registry.serde.avro.AvroKafkaSerializer;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public class Serde {
  static final ObjectMapper JSON = new ObjectMapper();
  static final HttpClient HTTP = HttpClient.newHttpClient();

  static JsonNode ask(String url, Object body) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(url)).header("Content-Type", "application/vnd.schemaregistry.v1+json");
    if (body != null) request.POST(HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(body)));
    var answer = HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() != 200) throw new IllegalStateException(url + " answers " + answer.statusCode() + " " + answer.body());
    return JSON.readTree(answer.body());
  }

  /** What the serde asks of its registry, as two calls of Confluent's API. */
  static RegistryClientFacade registry(String url, String subject) {
    return (RegistryClientFacade) Proxy.newProxyInstance(Serde.class.getClassLoader(), new Class<?>[] {RegistryClientFacade.class},
        (self, method, given) -> switch (method.getName()) {
          case "createSchema" -> {
            long id = ask(url + "/subjects/" + subject + "/versions", Map.of("schema", given[6])).get("id").asLong();
            yield RegistryVersionCoordinates.create(id, id, "default", subject, "1");
          }
          case "getSchemaByContentId" -> ask(url + "/schemas/ids/" + given[0], null).get("schema").asText();
          case "toString" -> "registry";
          case "hashCode" -> 1;
          case "equals" -> self == given[0];
          default -> {
            if (method.getReturnType() == List.class) yield List.of();
            throw new UnsupportedOperationException(method.getName());
          }
        });
  }

  public static void main(String[] args) throws Exception {
    String bootstrap = args[0], url = args[1], topic = "sr-java", subject = topic + "-value";
    int count = Integer.parseInt(args[2]);
    Schema schema = new Schema.Parser().parse("{\"type\":\"record\",\"name\":\"Order\",\"namespace\":\"java\",\"doc\":\"one\",\"fields\":["
        + "{\"name\":\"id\",\"type\":\"long\"},{\"name\":\"name\",\"type\":[\"null\",\"string\"],\"default\":null},"
        + "{\"name\":\"tags\",\"type\":{\"type\":\"array\",\"items\":\"string\"}},"
        + "{\"name\":\"price\",\"type\":{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":9,\"scale\":2}},"
        + "{\"name\":\"ratio\",\"type\":\"double\",\"default\":1.0}]}");
    Map<String, Object> config = Map.of("apicurio.registry.url", "http://127.0.0.1:1", "apicurio.registry.auto-register", "true",
        "apicurio.registry.use-id", "contentId", "apicurio.registry.id-handler", "io.apicurio.registry.serde.Default4ByteIdHandler");
    var serializer = new AvroKafkaSerializer<GenericRecord>(registry(url, subject));
    var deserializer = new AvroKafkaDeserializer<GenericRecord>(registry(url, subject));
    serializer.configure(config, false);
    deserializer.configure(config, false);
    var sent = new ArrayList<String>();
    Map<String, Object> clients = new HashMap<>(Map.of("bootstrap.servers", bootstrap, "group.id", topic, "auto.offset.reset", "earliest"));
    try (var producer = new KafkaProducer<byte[], GenericRecord>(clients, new ByteArraySerializer(), serializer)) {
      for (long i = 0; i < count; i++) {
        var order = new GenericRecordBuilder(schema).set("id", i).set("name", i % 3 == 0 ? null : "n" + i).set("tags", List.of("a", "b" + i))
            .set("price", java.nio.ByteBuffer.wrap(new byte[] {1, (byte) i})).build();
        sent.add(order.toString());
        producer.send(new ProducerRecord<>(topic, order)).get();
      }
    }
    var got = new ArrayList<String>();
    try (var consumer = new KafkaConsumer<byte[], GenericRecord>(clients, new ByteArrayDeserializer(), deserializer)) {
      consumer.subscribe(List.of(topic));
      for (int polls = 0; got.size() < count && polls < 120; polls++)
        for (var record : consumer.poll(Duration.ofMillis(500))) got.add(record.value().toString());
    }
    if (!got.equals(sent)) throw new AssertionError("sent " + sent.size() + ", got " + got.size() + " records, or others");
    // what Java writes itself is the text that is kept
    String kept = ask(url + "/subjects/" + subject + "/versions/latest", null).get("schema").asText();
    if (!kept.equals(schema.toString())) throw new AssertionError(kept + " is not " + schema);
    System.out.println(count + " records came back");
    System.exit(0);
  }
}
